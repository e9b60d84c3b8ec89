import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Brief } from '../../port.ts'
import { createGuideFinder, reportingTools } from './reporting.ts'

const TASK = '01990000-0000-7000-8000-000000000001'

/** The far side: what it was asked, and what it is to say. */
let server: Server
let asked: string[]
let answer: unknown

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    asked.push(`${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => void server.close())
beforeEach(() => {
  asked = []
  answer = {}
})

const access = () => ({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'secret' })
const toolsOf = (taskId: string | null) => reportingTools({ access: access(), brief: { taskId } as Brief })
const { signal } = new AbortController()

describe('the tools that a brief speaks of', () => {
  it.each([
    ['get_task', { task_id: TASK }, `GET /tasks/${TASK} `],
    ['check_in', { task_id: TASK, content: '✅', revision: 2 }, `POST /tasks/${TASK}/check-ins {"content":"✅","revision":2}`],
    ['confirm_update', { update_id: TASK }, `GET /updates/${TASK} `],
    ['read_tsg', { tsg_id: 'a/b' }, 'GET /tsgs/a%2Fb '],
    ['mark_tsg_helpful', { tsg_id: 'disk', resolved: true }, 'POST /tsgs/disk/feedback {"resolved":true}'],
  ])('%s calls the API', async (name, input, request) => {
    answer = { content: 'Make room.', of: 'the answer' }
    const tool = toolsOf(TASK).find((each) => each.name === name)
    const text = await tool?.run(tool.inputSchema.parse(input), { signal })
    expect(asked).toEqual([request])
    expect(text).toBe(name === 'read_tsg' ? 'Make room.' : name === 'mark_tsg_helpful' ? 'Recorded.' : JSON.stringify(answer))
  })

  it('read a long task in parts, each of which says where the next one begins', async () => {
    answer = { instructions: `${'ä'.repeat(70_000)}the end` }
    const getTask = toolsOf(TASK).find(({ name }) => name === 'get_task')
    const parts: string[] = []
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const text: string = (await getTask?.run(getTask.inputSchema.parse({ task_id: TASK, offset }), { signal })) ?? ''
      const [part = '', next] = text.split(/\n\[cut: the rest begins at offset (\d+)\]$/)
      parts.push(part)
      offset = next === undefined ? undefined : Number(next)
    }
    expect(parts).toHaveLength(3)
    expect(parts.join('')).toBe(JSON.stringify(answer))
  })

  it('are not about a task where there is none', () => {
    expect(toolsOf(null).map(({ name }) => name)).toEqual(['ask', 'confirm_update', 'read_tsg', 'mark_tsg_helpful'])
  })
})

describe('guides for a failure', () => {
  it('are announced once', async () => {
    answer = { items: [{ tsg_id: 'disk', title: 'Disk full', matched_pattern: 'ENOSPC' }] }
    const find = createGuideFinder(access())
    expect(await find('ENOSPC: no space', signal)).toEqual([
      '[Troubleshooting Guide Available: "Disk full"]\nMatched pattern: "ENOSPC"\nUse read_tsg("disk") for resolution steps.',
    ])
    expect(await find('ENOSPC again', signal)).toEqual([])
    expect(asked[0]).toBe('POST /tsgs/scan {"error_message":"ENOSPC: no space"}')
  })
})
