import { describe, expect, it } from 'vitest'
import { Child } from './harness/child.ts'
import { componentSchema, OPERATIONS, operation, operationFor, problemsOf, resolve, schemaProblems } from './harness/openapi.ts'
import { startSystem } from './harness/system.ts'

/** What the reference shows of a schema. */
function exampleOf(name: string): Record<string, unknown> {
  return (resolve({ $ref: `#/components/schemas/${name}` }).examples as Record<string, unknown>[])[0] ?? {}
}

const json = (body: unknown) => ({ contentType: 'application/json', text: JSON.stringify(body) })

describe('the check of answers', () => {
  const called = operation('getSubtask')
  const subtask = exampleOf('Subtask')

  it('takes what the reference shows as an example', () => {
    expect(problemsOf(called, { status: 200, ...json(subtask) })).toEqual([])
  })

  it.each([
    ['a status that is not declared', { status: 418, ...json({}) }],
    ['another content type', { status: 200, contentType: 'text/html', text: '<p>' }],
    ['an error that is no problem', { status: 404, ...json({ error: 'not found' }) }],
    ['a field that is missing', { status: 200, ...json({ ...subtask, attempt: undefined }) }],
    ['a field of another type', { status: 200, ...json({ ...subtask, attempt: '1' }) }],
    ['a value outside of its enumeration', { status: 200, ...json({ ...subtask, status: 'sleeping' }) }],
    ['a time that is none', { status: 200, ...json({ ...subtask, created_at: 'yesterday' }) }],
  ])('finds %s', (_, answer) => {
    expect(problemsOf(called, answer)).not.toEqual([])
  })

  it('finds an event without a type', () => {
    const subject = { kind: 'subtask', id: subtask.id }
    const event = { id: 1, at: subtask.created_at, project_id: subtask.id, subject, data: {}, actor: subject }
    expect(schemaProblems(componentSchema('Event'), { ...event, type: 'subtask.created' })).toEqual([])
    expect(schemaProblems(componentSchema('Event'), event)).not.toEqual([])
  })

  it('tells a path of its own words from one that stands for any id', () => {
    expect(operationFor('POST', '/subtasks/claim')?.operationId).toBe('claimSubtask')
    expect(operationFor('GET', '/subtasks/claim')?.operationId).toBe('getSubtask')
    expect(operationFor('GET', '/nowhere')).toBeUndefined()
    expect(new Set(OPERATIONS.map(({ operationId }) => operationId)).size).toBe(OPERATIONS.length)
  })
})

describe('a system', () => {
  it('fails the file whose processes log a secret or an error', async () => {
    const system = await startSystem({ apis: 0, workers: 0 })
    const line = JSON.stringify({ level: 50, msg: 'The sky has fallen on mst_key_of_somebody.' })
    const child = new Child({ name: 'API', argv: [process.execPath, '-e', `console.log(${JSON.stringify(line)})`], env: {} })
    await child.exited
    system.apis.push({ child, address: 'http://127.0.0.1:1', client: undefined as never })
    system.addSecret('mst_key_of_somebody')

    await expect(system.close()).rejects.toThrow(/contains "mst_key_of_somebody…"[\s\S]*API logged .*The sky has fallen/)
  })
})
