// A worker of DBOS: takes workflows from a queue. Arguments: the URL of its database, the number of jobs at once, the interval of its polls in ms.
import { DBOS } from '@dbos-inc/dbos-sdk'

const [url, capacity, pollMs] = process.argv.slice(2)
const RESULT = 'Done. '.repeat(34).slice(0, 200)
DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, runAdminServer: false, logLevel: 'error', systemDatabasePoolSize: 10 })
DBOS.registerWorkflow(async () => RESULT, { name: 'noop' })
DBOS.registerWorkflow(
  async (id) => {
    console.log(`entered ${id} ${Date.now()}`)
    await new Promise((resolve) => setTimeout(resolve, 120_000))
    return RESULT
  },
  { name: 'long' },
)
await DBOS.launch()
await DBOS.registerQueue('jobs', { workerConcurrency: Number(capacity), ...(pollMs === undefined ? {} : { minPollingIntervalMs: Number(pollMs) }) })
console.log('up')
