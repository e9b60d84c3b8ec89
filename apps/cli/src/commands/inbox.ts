import { setTimeout as sleep } from 'node:timers/promises'
import type { InboxItem } from '@muster/client'
import type { Command } from 'commander'
import { Cli, wholeNumber } from '../cli.ts'
import type { Output } from '../output/output.ts'
import { clean, oneLine, relativeTime } from '../output/text.ts'

const WATCH_MS = 1_000
const AT_ONCE = 10

export function addInbox(program: Command): void {
  program
    .command('inbox [session]')
    .description('take the results that wait for a session (default: cli), oldest first')
    .option('-w, --watch', 'wait for more')
    .option('-n, --limit <count>', 'the most to take', wholeNumber('--limit', 1, 10_000))
    .action(async (session: string | undefined, { watch, limit = Number.POSITIVE_INFINITY }: { watch?: boolean; limit?: number }, command: Command) => {
      const cli = Cli.of(command)
      const name = session ?? cli.session
      if (watch === true) cli.out.note(`Waiting for results of ${name}. Ctrl-C ends it.`)
      const count = await take(cli, name, limit, watch === true)
      if (count === 0) cli.out.note(`Nothing waits for ${name}.`)
    })
}

/** Shows items and then acknowledges them: what was not shown, because this process ended, comes again after a minute. */
async function take(cli: Cli, session: string, limit: number, isWatching: boolean): Promise<number> {
  // While it waits for more, an outage is waited for as well.
  const muster = cli.muster(isWatching ? { retries: Number.POSITIVE_INFINITY } : {})
  const signal = cli.interrupted
  let count = 0
  while (count < limit) {
    const body = { limit: Math.min(limit - count, AT_ONCE), ack: 'manual' as const }
    const { items, claim_id } = await muster.call('claimInbox', { path: { id: session }, body }, { signal })
    for (const item of items) {
      cli.out.line(item, () => `${count > 0 ? '\n' : ''}${describeItem(cli.out, item)}`)
      count += 1
    }
    if (claim_id !== null) await muster.inbox.acknowledge(session, claim_id)
    if (items.length > 0) continue
    if (!isWatching) break
    await sleep(WATCH_MS, undefined, { signal })
  }
  return count
}

function describeItem(out: Output, item: InboxItem): string {
  const id = item.question_id ?? item.subtask_id ?? item.task_id
  const score = item.score === null ? '' : `  score ${item.score}`
  const head = `${out.status(item.status)}  ${out.heading(oneLine(item.task))}  ${out.colours.dim(`${item.kind} ${id}, ${relativeTime(item.completed_at)}${score}`)}`
  const body = item.error ?? item.result ?? item.summary ?? ''
  const hint =
    item.kind === 'question'
      ? `Answer it: muster ask answer ${item.question_id}`
      : item.truncated
        ? `Shortened. The whole of it: muster show ${id} --result`
        : ''
  return [head, clean(body), out.colours.dim(hint)].filter((part) => clean(part) !== '').join('\n')
}
