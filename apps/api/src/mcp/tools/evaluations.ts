import { createEvaluation } from '@muster/usecases'
import { z } from 'zod'
import { uuid } from '../../http/schemas.ts'
import { newEvaluationSchema, presentCreatedEvaluation } from '../../routes/evaluations/evaluation-schema.ts'
import { mcpTool } from '../tool.ts'

const { output, acceptance_criteria, threshold } = newEvaluationSchema.shape

export const evaluateOutputTool = mcpTool({
  name: 'evaluate_output',
  title: 'Evaluate an output',
  description:
    'Scores a text by its reflection and check-in blocks, and by criteria. Below the threshold you get a summary; request_full_payload reads the rest.',
  effect: 'adds',
  tier: 'standard',
  deadlineMs: 30_000,
  scopes: ['evaluations:write'],
  input: z.strictObject({
    output,
    acceptance_criteria: acceptance_criteria.describe('Instead of those of the task.'),
    threshold: threshold.describe('Default 0.6.'),
    task_id: uuid('The task that it is about.').optional(),
  }),
  output: z.looseObject({ evaluation_id: z.string(), score: z.number().nullable(), recommendation: z.string() }),
  async handle({ ctx, sessionId }, { output: text, acceptance_criteria, threshold, task_id: taskId }) {
    return presentCreatedEvaluation(await createEvaluation(ctx, { output: text, acceptanceCriteria: acceptance_criteria, threshold, taskId, sessionId }))
  },
})
