import type { BodyOf, EventDeliverySummary, QueryOf, Webhook } from '@muster/client'
import type { Command } from 'commander'
import { Cli, repeated, wholeNumber } from '../cli.ts'
import type { Column } from '../output/output.ts'
import { relativeTime } from '../output/text.ts'

const COLUMNS: Column<Webhook>[] = [
  ['ID', ({ id }) => id],
  ['STATUS', ({ status }) => status],
  ['EVENTS', ({ events }) => events.join(' ')],
  ['URL', ({ url }) => url],
]

const DELIVERY_COLUMNS: Column<EventDeliverySummary>[] = [
  ['ID', ({ id }) => id],
  ['STATUS', ({ status }) => status],
  ['TRIES', ({ attempts }) => attempts.length],
  ['NEXT', ({ next_attempt_at }) => relativeTime(next_attempt_at)],
  ['CREATED', ({ created_at }) => relativeTime(created_at)],
  ['TYPE', ({ type }) => type],
]

/** The log of all deliveries, also of callbacks and of the channels of the project. */
export function addDeliveries(program: Command): void {
  const delivery = program.command('delivery').description('what was sent to webhooks, callbacks and channels')
  delivery
    .command('ls')
    .description('what was sent, newest first')
    .option('--kind <kind>', 'webhook, callback, telegram, slack or email')
    .option('--status <status>', 'pending, sending, delivered or failed')
    .option('--subject <id>', 'of events of this subtask, task, schedule, evaluation or guide')
    .option('--since <time>', 'made at this time or later, such as 2026-03-01T00:00:00Z')
    .option('-n, --limit <count>', 'how many', wholeNumber('--limit', 1, 10_000), 20)
    .action(async ({ limit, kind, ...query }: { limit: number; kind?: string; status?: string; subject?: string; since?: string }, command: Command) => {
      const cli = Cli.of(command)
      const filters = { ...query, ...(kind === undefined ? {} : { receiver_kind: kind }) } as QueryOf<'listDeliveries'>
      const columns: Column<EventDeliverySummary>[] = [...DELIVERY_COLUMNS, ['TO', ({ receiver }) => receiver.kind]]
      await cli.out.rows(await cli.muster().deliveries.list(filters).all(limit), columns, 'Nothing was sent yet.')
    })
  delivery
    .command('redeliver <id>')
    .description('send a delivery again, with the same bytes')
    .action(async (id: string, _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      const sent = await cli.muster().deliveries.redeliver(id)
      await cli.out.result(sent, () => `${id}  will be sent again`)
    })
}

export function addWebhooks(program: Command): void {
  const webhook = program.command('webhook').description('addresses to which events are pushed')
  webhook
    .command('create <url>')
    .description('create a webhook; its secret is shown once')
    .option('--event <pattern>', 'such as subtask.completed or task.*; may be repeated (default: all)', repeated)
    .option('--subject <id>')
    .option('--agent <id>')
    .option('--session <id>')
    .option('--ordered', 'each subject in the order of its events')
    .action(
      async (
        url: string,
        { event = ['*'], agent, session, ...options }: { event?: string[]; subject?: string; agent?: string; session?: string; ordered?: boolean },
        command: Command,
      ) => {
        const cli = Cli.of(command)
        const body = {
          url,
          events: event,
          ...options,
          ...(agent === undefined ? {} : { agent_id: agent }),
          ...(session === undefined ? {} : { session_id: session }),
        }
        const created = await cli.muster().webhooks.create(body as BodyOf<'createWebhook'>)
        await cli.out.result(created, () => `${created.id}\n${created.secret ?? 'The same request was answered before. A secret is shown only once.'}`)
        cli.out.note('Keep the secret now: it is not shown again.')
      },
    )
  webhook
    .command('ls')
    .description('list webhooks')
    .action(async (_options: unknown, command: Command) => {
      const cli = Cli.of(command)
      await cli.out.rows(await cli.muster().webhooks.list().all(), COLUMNS, 'No webhooks.')
    })
  webhook
    .command('rm <id>')
    .description('delete a webhook')
    .action(async (id: string, _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      await cli.muster().webhooks.delete(id)
      await cli.out.result({ id, deleted: true }, () => `${id}  deleted`)
    })
  webhook
    .command('test <id>')
    .description('send a test event')
    .action(async (id: string, _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      const sent = await cli.muster().webhooks.test(id)
      await cli.out.result(sent, () => `${sent.id}  ${cli.out.status(sent.status)}`)
      if (cli.out.isTerminal) cli.out.note(`See how it went: muster webhook deliveries ${id}`)
    })
  webhook
    .command('rotate <id>')
    .description('make a new secret; the old one goes on for a while')
    .option('--overlap <seconds>', 'how long', wholeNumber('--overlap', 0, 604_800))
    .action(async (id: string, { overlap }: { overlap?: number }, command: Command) => {
      const cli = Cli.of(command)
      const rotated = await cli.muster().webhooks.rotateSecret(id, overlap === undefined ? {} : { overlap_seconds: overlap })
      await cli.out.result(rotated, () => rotated.secret ?? 'The same request was answered before. A secret is shown only once.')
    })
  webhook
    .command('deliveries <id>')
    .description('what was sent, newest first')
    .option('-n, --limit <count>', 'how many', wholeNumber('--limit', 1, 10_000), 20)
    .action(async (id: string, { limit }: { limit: number }, command: Command) => {
      const cli = Cli.of(command)
      await cli.out.rows(await cli.muster().webhooks.deliveries(id).all(limit), DELIVERY_COLUMNS, 'Nothing was sent yet.')
    })
  webhook
    .command('redeliver <id> <delivery>')
    .description('send a delivery again, with the same bytes')
    .action(async (id: string, delivery: string, _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      const sent = await cli.muster().webhooks.redeliver(id, delivery)
      await cli.out.result(sent, () => `${delivery}  will be sent again`)
    })
}
