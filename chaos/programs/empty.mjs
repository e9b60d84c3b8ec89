// Says nothing at all, which no result can be made of.
import { readBrief } from './speak.mjs'

await readBrief()
process.exit(0)
