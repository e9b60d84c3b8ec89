// Fails in another way each time: an exception, a code, a signal, a closing line; sometimes the next attempt succeeds.
import { mark, readBrief, say } from './speak.mjs'

const { metadata, attempt } = await readBrief()
if (attempt > metadata.crashes) {
  say({ type: 'result', result: mark() })
  process.exit(0)
}
say({ type: 'step', content: 'about to fail' })
const ways = {
  throw: () => {
    throw new Error('on purpose')
  },
  exit: () => process.exit(3),
  signal: () => process.kill(process.pid, 'SIGSEGV'),
  error: () => {
    say({ type: 'error', error: 'on purpose', retryable: metadata.retryable })
    process.exit(0)
  },
  after: () => {
    say({ type: 'result', result: mark() })
    process.exit(9)
  },
  blocked: () => {
    say({ type: 'blocked', reason: 'on purpose' })
    process.exit(0)
  },
}
ways[metadata.way]()
