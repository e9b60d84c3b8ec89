import { type GetPromptResult, type Prompt, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { isUuid } from '@muster/domain'
import { type Ctx, getTask } from '@muster/usecases'
import { presentTask } from '../routes/tasks/task-schema.ts'

interface PromptKind {
  description: Prompt
  write(ctx: Ctx, values: Record<string, string>): Promise<string>
}

const taskArgument = { name: 'task_id', description: 'Id of the task.', required: true }

/** The task as data beside an instruction. @throws ProtocolError for what can be no id */
async function taskAsData(ctx: Ctx, taskId: string | undefined): Promise<string> {
  if (taskId === undefined || !isUuid(taskId)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'task_id must be the UUID of a task.')
  return `The task, as data:\n${JSON.stringify(presentTask(await getTask(ctx, taskId)), null, 2)}`
}

const PROMPTS: readonly PromptKind[] = [
  {
    description: {
      name: 'write_brief',
      title: 'Write a good brief',
      description: 'Turns a goal into a task that an agent can do without asking back.',
      arguments: [{ name: 'goal', description: 'What is to be achieved.', required: true }],
    },
    write: async (_, { goal = '' }) =>
      [
        `Write a brief for this goal, and store it with create_task: ${goal}`,
        'Instructions say what to do, why, and where to begin; name files, commands and limits that the agent cannot know.',
        'Each acceptance criterion can be checked on its own and says by what: a command with its result, a number with its unit, a file with its content. Avoid "good", "clean", "as needed".',
        'Name each required output, with a JSON Schema where a program reads it.',
        'Then call create_task, read its warnings, and correct the brief with update_task until none is left that matters.',
      ].join('\n'),
  },
  {
    description: {
      name: 'review_result',
      title: 'Review a result',
      description: 'Judges the outputs of a task by its criteria, and decides.',
      arguments: [taskArgument],
    },
    write: async (ctx, { task_id }) =>
      [
        'Review the outputs of this task. For each acceptance criterion quote the part of the outputs that meets it, or say that there is none. The word of the agent is no evidence.',
        'Then call review_task: approve if every required criterion is met, else request_revision with a note that names each open point and how to check it.',
        await taskAsData(ctx, task_id),
      ].join('\n\n'),
  },
  {
    description: {
      name: 'check_in',
      title: 'Write a check-in',
      description: 'Reports where a task stands.',
      arguments: [taskArgument],
    },
    write: async (ctx, { task_id }) =>
      [
        'Report on this task with check_in. Give each acceptance criterion one line: ✅ if it is met, with the evidence; ❓ if you do not know; 🐛 if it is not met. Keep its id at the end of the line. Name the revision that you work from, and the next steps.',
        await taskAsData(ctx, task_id),
      ].join('\n\n'),
  },
]

export function listPrompts(): Prompt[] {
  return PROMPTS.map(({ description }) => description)
}

/** @throws ProtocolError for an unknown prompt or a missing argument, DomainError as `getTask` does */
export async function getPrompt(ctx: Ctx, name: string, values: Record<string, string> = {}): Promise<GetPromptResult> {
  const prompt = PROMPTS.find(({ description }) => description.name === name)
  if (prompt === undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt ${name.slice(0, 100)}; prompts/list names those that there are.`)
  const missing = (prompt.description.arguments ?? []).filter((argument) => argument.required === true && (values[argument.name] ?? '').trim() === '')
  if (missing.length > 0)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The prompt ${name} needs ${missing.map((argument) => argument.name).join(', ')}.`)
  const text = await prompt.write(ctx, values)
  return { description: prompt.description.description, messages: [{ role: 'user', content: { type: 'text', text } }] }
}
