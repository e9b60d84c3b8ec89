import { reflectionOn } from '../src/load/outputs.ts'
import { mark, readBrief, say } from './speak.mjs'

const { metadata } = await readBrief()
if (metadata.tokens !== undefined) say({ type: 'usage', input_tokens: metadata.tokens - 1, output_tokens: 1 })
say({ type: 'result', result: `${mark()}\n${reflectionOn(process.env.MUSTER_SUBTASK_ID)}` })
process.exit(0)
