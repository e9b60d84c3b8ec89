import { expect, it } from 'vitest'
import { startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'
import type { Subtask } from './harness/wire.ts'

const NO_LIMITS = { SUBTASK_MAX_CONCURRENT: '1000', SUBTASK_MAX_PENDING: '1000', SUBTASK_PROJECT_MAX_CONCURRENT: '0', SUBTASK_PROJECT_MAX_PENDING: '0' }
const RUNNERS = JSON.stringify({ brief: { argv: ['/bin/sh', '-c', 'sleep 0.2; echo Done.'] } })

it('a project with a full queue of urgent work costs a quiet project no more than the run that has begun', async () => {
  const system = await startSystem({ workers: 2, env: { ...NO_LIMITS, COMMAND_RUNNERS: RUNNERS, DEFAULT_RUNNER: 'brief', SUBTASK_WORKERS: '1' } })
  const quietCtx = await system.projectCtx('quiet')
  const quiet = system.client.as((await system.mintKey(['admin'], { ctx: quietCtx })).key)
  for (let place = 0; place < 100; place += 1) await system.client.spawn({ task: `Task ${place}.`, priority: 'urgent' })
  await until('the full project runs', async () => (await system.admin`select from subtasks where status = 'completed' limit 1`).length > 0)

  for (let number = 0; number < 5; number += 1) {
    const { id } = await quiet.spawn({ task: 'A quiet one.' })
    await until('it has ended', async () => (await quiet.ok<Subtask>('GET', `/subtasks/${id}`)).status === 'completed')
  }
  const waits = await system.admin<{ overtaken_by: number; waited_ms: number }[]>`
    select (select count(*)::int from subtasks f where f.project_id <> q.project_id and f.started_at > q.created_at and f.started_at < q.started_at) as overtaken_by,
      extract(epoch from q.started_at - (select min(f.completed_at) from subtasks f where f.completed_at > q.created_at)) * 1000 as waited_ms
    from subtasks q where q.project_id = ${quietCtx.actor.projectId}`
  expect(await system.admin`select from subtasks where status = 'pending' limit 1`).toHaveLength(1)
  // A claim that was under way when it came may have taken one before it.
  for (const { overtaken_by } of waits) expect(overtaken_by).toBeLessThanOrEqual(1)
  expect(waits.filter(({ overtaken_by }) => overtaken_by === 0).length).toBeGreaterThanOrEqual(4)
  await system.close()
})
