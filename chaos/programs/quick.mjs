import { reflectionOn } from '../src/load/outputs.ts'
import { mark, readBrief, say } from './speak.mjs'

await readBrief()
say({ type: 'result', result: `${mark()}\n${reflectionOn(process.env.MUSTER_SUBTASK_ID)}` })
process.exit(0)
