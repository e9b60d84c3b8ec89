import { checkIn } from '@muster/usecases'
import { z } from 'zod'
import { text, uuid } from '../../http/schemas.ts'
import { checkedInSchema, presentCheckedIn } from '../../routes/tasks/task-changes-schema.ts'
import { mcpTool } from '../tool.ts'

export const checkInTool = mcpTool({
  name: 'check_in',
  title: 'Report on a task',
  description:
    'Says which acceptance criteria are met and what comes next. `content` is a text with a check-in block, as at the end of your brief: <npl-block type="check-in" task-id="…" revision="N">, a line for each criterion with ✅, ❓ or 🐛 and its id, </npl-block>. Naming a revision confirms every update up to it.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  input: z.strictObject({
    task_id: uuid('Id of the task.'),
    content: text(100_000).describe('A text with a check-in block of this task.'),
    revision: z.int().min(1).optional().describe('The newest revision that you have taken in, where the block does not say.'),
  }),
  output: checkedInSchema,
  async handle({ ctx, sessionId }, { task_id: id, content, revision }) {
    return presentCheckedIn(await checkIn(ctx, id, { content, sessionId, revision }))
  },
})
