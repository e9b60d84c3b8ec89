import { DomainError, ownSubjectId } from '@muster/domain'
import { answerQuestion, askAboutSubtask, askAboutTask, listQuestions } from '@muster/usecases'
import { z } from 'zod'
import { printableId, uuid } from '../../http/schemas.ts'
import {
  newAnswerSchema,
  newTaskQuestionSchema,
  presentQuestion,
  questionStatusSchema,
  toAnswer,
  toNewQuestion,
} from '../../routes/questions/question-schema.ts'
import { mcpTool } from '../tool.ts'
import { findByAnyId } from './lookup.ts'

const question = z.looseObject({ question_id: z.string(), status: z.string() })

export const askTool = mcpTool({
  name: 'ask',
  title: 'Ask a question',
  description:
    'Asks the session that gave you the work, or asks it to approve exactly these arguments. The answer arrives as an update. Go on meanwhile, or send wait: true and end your turn.',
  effect: 'adds',
  tier: 'standard',
  scopes: ['tasks:write'],
  forSubagents: 'all',
  input: z.strictObject({
    id: uuid('Of the task or the subtask that you work on. Not needed with its own credential.').optional(),
    ...newTaskQuestionSchema.shape,
    wait: z
      .boolean()
      .default(false)
      .describe('True if you cannot go on without the answer. A run of this server then stops without a process, and goes on when the answer comes.'),
  }),
  output: question,
  async handle({ ctx }, { id: given, wait: _, ...asked }) {
    const id = given ?? ownSubjectId(ctx.actor)
    if (!id) throw new DomainError('validation_failed', 'id is required: say which task or subtask the question is about.')
    const { kind } = await findByAnyId(ctx, id, ['task', 'subtask'])
    const ask = kind === 'task' ? askAboutTask : askAboutSubtask
    return presentQuestion(await ask(ctx, id, toNewQuestion(asked)))
  },
})

export const listQuestionsTool = mcpTool({
  name: 'list_questions',
  title: 'List questions',
  description: 'Lists the newest questions of runs and assignees, by default those that are open.',
  effect: 'reads',
  tier: 'standard',
  scopes: ['tasks:read'],
  input: z.strictObject({
    status: questionStatusSchema.default('open'),
    session: printableId('Only questions to this session.', 'research-1').optional(),
    task: uuid('Of a task: only questions about it, and of its runs.').optional(),
  }),
  output: z.object({ items: z.array(question), has_more: z.boolean() }),
  async handle({ ctx }, { task: taskId, ...filter }) {
    const { items, nextCursor } = await listQuestions(ctx, { ...filter, taskId, limit: 20 })
    return { items: items.map(presentQuestion), has_more: nextCursor !== null }
  },
})

export const answerQuestionTool = mcpTool({
  name: 'answer_question',
  title: 'Answer a question',
  description: 'Answers a question once: option_id, answer, or for an approval decision.',
  effect: 'sets',
  needsNoRoom: true,
  tier: 'standard',
  scopes: ['tasks:write'],
  input: z.strictObject({ question_id: uuid('Of the question.'), ...newAnswerSchema.shape }),
  output: question,
  async handle({ ctx }, { question_id: id, revision, ...answer }) {
    return presentQuestion(await answerQuestion(ctx, id, { ...toAnswer(answer), revision }))
  },
})
