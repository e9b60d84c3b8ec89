import { mark, readBrief, say } from './speak.mjs'

await readBrief()
say({ type: 'result', result: mark() })
process.exit(0)
