// A service of Restate. Argument: the port to listen on, 0 for any.

import { createServer } from 'node:http2'
import * as restate from '@restatedev/restate-sdk'

const RESULT = 'Done. '.repeat(34).slice(0, 200)
const jobs = restate.service({
  name: 'jobs',
  handlers: {
    noop: async () => RESULT,
    long: async (_, id) => {
      console.log(`entered ${id} ${Date.now()}`)
      await new Promise((resolve) => setTimeout(resolve, 120_000))
      return RESULT
    },
  },
})
const server = createServer(restate.createEndpointHandler({ services: [jobs] }))
server.listen(Number(process.argv[2]), '127.0.0.1', () => console.log(`up http://127.0.0.1:${server.address().port}`))
