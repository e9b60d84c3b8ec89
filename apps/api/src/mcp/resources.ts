import { type ReadResourceResult, type Resource, ResourceNotFoundError, type ResourceTemplateType } from '@modelcontextprotocol/server'
import { DomainError, hasScope, isUuid, notFound, renderSubagentMarkdown, renderTsgMarkdown, type Scope } from '@muster/domain'
import { type Ctx, getSubagent, getTask, getTsg, listSteps, listSubagents, listTaskRevisions, listTasks, listTsgs } from '@muster/usecases'
import { tsgId } from '../routes/guides/tsg-schema.ts'
import { presentStep } from '../routes/subtasks/step-schema.ts'
import { presentTaskRevision } from '../routes/tasks/task-changes-schema.ts'
import { presentTask } from '../routes/tasks/task-schema.ts'

const JSON_TYPE = 'application/json'
const MARKDOWN_TYPE = 'text/markdown'

/** A kind of thing that clients read by an address, with the same use-cases as REST. */
interface ResourceKind {
  template: ResourceTemplateType
  scope: Scope
  /** Reads the one that the parameters of the address name. */
  read(ctx: Ctx, parameters: Record<string, string>): Promise<string>
  /** The newest of them; absent for what is only read through something else. */
  list?(ctx: Ctx): Promise<{ id: string; name: string; description?: string }[]>
}

const LISTED_MAX = 50
const STEPS_MAX = 200

const asJson = (value: unknown) => JSON.stringify(value, null, 2)

/** @throws DomainError `not_found` for what can be no id */
function uuidOf(value: string | undefined, what: string): string {
  if (value === undefined || !isUuid(value)) throw notFound(what)
  return value
}

/** @throws DomainError `not_found` for what can be no id */
function guideIdOf(value: string | undefined): string {
  const { success, data } = tsgId.safeParse(value)
  if (!success) throw notFound('guide')
  return data
}

export const taskUri = (id: string) => `muster://tasks/${id}`
export const transcriptUri = (id: string) => `muster://subtasks/${id}/transcript`

const KINDS: readonly ResourceKind[] = [
  {
    template: { name: 'task', title: 'Task', description: 'A task with its whole brief.', uriTemplate: taskUri('{task_id}'), mimeType: JSON_TYPE },
    scope: 'tasks:read',
    read: async (ctx, { task_id }) => asJson(presentTask(await getTask(ctx, uuidOf(task_id, 'task')))),
    list: async (ctx) => (await listTasks(ctx, { limit: LISTED_MAX })).items.map(({ id, title, status }) => ({ id, name: title, description: status })),
  },
  {
    template: {
      name: 'revision',
      title: 'Revision of a task',
      description: 'What one revision of a brief has changed.',
      uriTemplate: `${taskUri('{task_id}')}/revisions/{revision}`,
      mimeType: JSON_TYPE,
    },
    scope: 'tasks:read',
    async read(ctx, { task_id, revision }) {
      const number = /^\d{1,9}$/.test(revision ?? '') ? Number(revision) : 0
      const { items } = await listTaskRevisions(ctx, uuidOf(task_id, 'task'), { limit: 1, cursor: String(number + 1) })
      const [found] = items
      if (found === undefined || found.revision !== number) throw notFound('revision')
      return asJson(presentTaskRevision(found))
    },
  },
  {
    template: { name: 'guide', title: 'Troubleshooting guide', uriTemplate: 'muster://guides/{tsg_id}', mimeType: MARKDOWN_TYPE },
    scope: 'tsgs:read',
    read: async (ctx, { tsg_id }) => renderTsgMarkdown(await getTsg(ctx, guideIdOf(tsg_id), {})),
    list: async (ctx) => (await listTsgs(ctx, { limit: LISTED_MAX })).items.map(({ tsgId, title }) => ({ id: tsgId, name: title })),
  },
  {
    template: { name: 'subagent', title: 'Sub-agent', uriTemplate: 'muster://subagents/{name}', mimeType: MARKDOWN_TYPE },
    scope: 'subagents:read',
    read: async (ctx, { name = '' }) => renderSubagentMarkdown(await getSubagent(ctx, name)),
    list: async (ctx) => (await listSubagents(ctx, { limit: LISTED_MAX })).items.map(({ name, description }) => ({ id: name, name, description })),
  },
  {
    template: {
      name: 'transcript',
      title: 'Transcript of a subtask',
      description: `The first ${STEPS_MAX} steps. The tool read_transcript reads on.`,
      uriTemplate: transcriptUri('{subtask_id}'),
      mimeType: JSON_TYPE,
    },
    scope: 'subtasks:read',
    read: async (ctx, { subtask_id }) => asJson((await listSteps(ctx, uuidOf(subtask_id, 'subtask'), { limit: STEPS_MAX })).items.map(presentStep)),
  },
]

const readable = (ctx: Ctx) => KINDS.filter(({ scope }) => hasScope(ctx.actor, scope))

export function listResourceTemplates(ctx: Ctx): ResourceTemplateType[] {
  return readable(ctx).map(({ template }) => template)
}

/** The newest tasks, guides and sub-agents that the caller may read. */
export async function listResources(ctx: Ctx): Promise<Resource[]> {
  const listed = await Promise.all(
    readable(ctx).map(async ({ template: { uriTemplate, mimeType }, list }) =>
      ((await list?.(ctx)) ?? []).map(({ id, ...resource }) => ({ uri: uriTemplate.replace(/\{\w+\}/, encodeURIComponent(id)), mimeType, ...resource })),
    ),
  )
  return listed.flat()
}

/** @throws ResourceNotFoundError, DomainError `forbidden` */
export async function readResource(ctx: Ctx, uri: string): Promise<ReadResourceResult> {
  for (const { template, read } of KINDS) {
    const parameters = matchTemplate(template.uriTemplate, uri)
    if (parameters === null) continue
    try {
      return { contents: [{ uri, mimeType: template.mimeType, text: await read(ctx, parameters) }] }
    } catch (error) {
      const isUnknown = error instanceof DomainError && (error.code === 'not_found' || error.code === 'subagent_not_found')
      throw isUnknown ? new ResourceNotFoundError(uri, error.message) : error
    }
  }
  throw new ResourceNotFoundError(uri, 'No resource has such an address; resources/templates/list has the forms.')
}

function matchTemplate(template: string, uri: string): Record<string, string> | null {
  const pattern = template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')
  const groups = new RegExp(`^${pattern}$`).exec(uri)?.groups
  if (groups === undefined) return null
  try {
    return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]))
  } catch {
    // A stray % names nothing.
    return null
  }
}

const COMPLETED_MAX = 100

/** Values of a parameter that begin with what was typed, of the newest ones. */
export async function completeParameter(ctx: Ctx, name: string, typed: string): Promise<{ values: string[]; hasMore: boolean }> {
  const kind = readable(ctx).find(({ template, list }) => list !== undefined && template.uriTemplate.includes(`{${name}}`))
  const ids = ((await kind?.list?.(ctx)) ?? []).map(({ id }) => id).filter((id) => id.toLowerCase().startsWith(typed.toLowerCase()))
  return { values: ids.slice(0, COMPLETED_MAX), hasMore: false }
}
