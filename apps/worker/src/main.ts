import { whenUsable } from '@muster/db'
import { databaseUrls } from '@muster/domain'
import { runProcess } from '@muster/jobs'
import { createDeps } from './deps.ts'
import { startWorker } from './worker.ts'
import { requireDataDir } from './workspaces.ts'

/** A worker process. */
await runProcess('worker', process.env, async (context) => {
  const { settings, log, stopping, started } = context
  await requireDataDir(settings.DATA_DIR)
  const { directUrl, pooledUrl } = databaseUrls(settings)
  const running = await whenUsable(directUrl, { signal: stopping, log, pooledUrl }, async () => {
    const deps = createDeps(context)
    return { deps, worker: await startWorker(deps) }
  })
  if (running === undefined) return {}
  const { deps, worker } = running
  started.defer(() => worker.stop())
  return { worker_id: deps.workerId, runners: [...deps.runners.keys()], capacity: settings.SUBTASK_WORKERS }
})
