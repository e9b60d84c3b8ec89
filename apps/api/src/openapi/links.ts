import type { Endpoint } from '../http/endpoint.ts'

/** Where an answer has what a path or a query needs: runtime expressions of OpenAPI, by parameter. */
interface Source {
  /** Operation with the answer. */
  from: string
  parameters: Record<string, string>
}

/**
 * What leads to the operations below a path. The first source links all of them; each further one only the path itself. So readers, fuzzers and agents
 * get from an answer to what can be done next. A new noun gets its line here.
 */
const PATHS: Record<string, [Source, ...Source[]]> = {
  '/subtasks/{id}': [answer('createSubtask', { id: '/id' }), answer('listSubtasks', { id: '/items/0/id' }), answer('claimSubtask', { id: '/subtask/id' })],
  '/subtasks/{id}/heartbeat': [answer('claimSubtask', { id: '/subtask/id' })],
  '/subtasks/{id}/complete': [answer('claimSubtask', { id: '/subtask/id' })],
  '/subtasks/{id}/fail': [answer('claimSubtask', { id: '/subtask/id' })],
  '/subtasks/{id}/release': [answer('claimSubtask', { id: '/subtask/id' })],
  '/subtasks/{id}/wait': [answer('claimSubtask', { id: '/subtask/id' })],
  '/tasks/{id}': [answer('createTask', { id: '/id' }), answer('listTasks', { id: '/items/0/id' })],
  '/tasks/{id}/tsgs/{tsg_id}': [answer('getTask', { id: '/id', tsg_id: '/tsgs/0/id' })],
  '/updates/{update_id}': [answer('noteTask', { update_id: '/id' }), answer('steerSubtask', { update_id: '/id' })],
  '/questions/{id}': [answer('askAboutTask', { id: '/id' }), answer('askAboutSubtask', { id: '/id' }), answer('listQuestions', { id: '/items/0/id' })],
  '/schedules/{id}': [answer('createSchedule', { id: '/id' }), answer('listSchedules', { id: '/items/0/id' })],
  '/subagents/{name}': [answer('listSubagents', { name: '/items/0/name' })],
  '/tsgs/{tsg_id}': [answer('createTsg', { tsg_id: '/id' }), answer('listTsgs', { tsg_id: '/items/0/id' }), answer('scanTsgs', { tsg_id: '/items/0/id' })],
  '/evaluations/{id}': [answer('createEvaluation', { id: '/id' }), answer('listEvaluations', { id: '/items/0/id' })],
  '/memory/facts/{id}': [answer('learnFact', { id: '/id' }), answer('searchMemory', { id: '/items/0/id' })],
  '/memory/episodes/{id}': [answer('createSubtask', { id: '/id' })],
  '/sessions/{id}': [answer('createSubtask', { id: '/session_id' })],
  '/sessions/{id}/injections/{claim_id}': [{ from: 'injectSession', parameters: { id: '$request.path.id', claim_id: '$response.body#/claim_id' } }],
  '/sessions/{id}/inbox/claim/{claim_id}': [{ from: 'claimInbox', parameters: { id: '$request.path.id', claim_id: '$response.body#/claim_id' } }],
  '/projects/{id}': [answer('createApiKey', { id: '/project_id' })],
  '/api-keys/{id}': [answer('createApiKey', { id: '/id' }), answer('listApiKeys', { id: '/items/0/id' })],
  '/webhooks/{id}': [answer('createWebhook', { id: '/id' }), answer('listWebhooks', { id: '/items/0/id' })],
  '/webhooks/{id}/deliveries/{delivery_id}': [
    { from: 'listWebhookDeliveries', parameters: { id: '$request.path.id', delivery_id: '$response.body#/items/0/id' } },
  ],
  '/deliveries/{id}': [answer('listDeliveries', { id: '/items/0/id' })],
  '/workers/{id}': [answer('listWorkers', { id: '/items/0/id' })],
}

/** What leads to operations without an id in their path, by operation. */
const QUERIES: Record<string, Source> = {
  listSubtasks: answer('createSubtask', { agent_id: '/agent_id' }),
  streamEvents: answer('createSubtask', { subject: '/id' }),
  listQuestions: answer('askAboutTask', { status: '/status' }),
  listSchedules: answer('createSchedule', { agent_id: '/agent_id' }),
  listTasks: answer('createTask', { priority: '/priority' }),
}

function answer(from: string, pointers: Record<string, string>): Source {
  return { from, parameters: Object.fromEntries(Object.entries(pointers).map(([name, pointer]) => [name, `$response.body#${pointer}`])) }
}

/** The links of every operation, by its id. */
export function linksOf(endpoints: readonly Endpoint[]): Map<string, Record<string, unknown>> {
  const links = new Map<string, Record<string, unknown>>()
  const add = ({ from, parameters }: Source, operationId: string) => {
    if (from === operationId) return
    links.set(from, { ...links.get(from), [operationId]: { operationId, parameters } })
  }
  for (const { path, operationId } of endpoints) {
    const prefix = longestPrefix(path)
    const [first, ...others] = prefix === undefined ? [] : (PATHS[prefix] ?? [])
    if (first !== undefined) add(first, operationId)
    if (path === prefix) for (const other of others) add(other, operationId)
    const query = QUERIES[operationId]
    if (query !== undefined) add(query, operationId)
  }
  return links
}

function longestPrefix(path: string): string | undefined {
  const prefixes = Object.keys(PATHS).filter((prefix) => path === prefix || path.startsWith(`${prefix}/`))
  return prefixes.sort((left, right) => right.length - left.length)[0]
}
