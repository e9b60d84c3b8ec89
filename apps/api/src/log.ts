import { errorForLog } from '@muster/domain'
import type { Log } from '@muster/usecases'
import pino from 'pino'

/** The log of the process: one JSON object a line. Ids only, never bodies, keys or prompts. */
export function createLog(level: string): Log {
  // Written behind the work, in larger pieces; what is left is written when the process ends.
  return pino({ level, base: { name: 'api' }, serializers: { err: errorForLog } }, pino.destination({ sync: false }))
}
