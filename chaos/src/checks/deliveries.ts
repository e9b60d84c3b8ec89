import type { Brief, Delivery, Injection } from '../ledger.ts'
import { checkRows, type Evidence } from './check.ts'

interface Update {
  id: string
  task_id: string
  seq: number
  type: string
  revision: number
  status: string
  delivered_to: string | null
  delivered_ms: number | null
}

/** What the clocks of the harness and the server may differ by. */
const CLOCK_MS = 1_000

/** Sessions receive the tasks that they hold: of each the brief first, then its changes in order, once, and no other task. */
export async function checkDeliveries(evidence: Evidence): Promise<void> {
  const { admin, ledger, findings } = evidence
  const updates = await admin<Update[]>`
    select id, task_id, seq, update_type as type, revision, status, delivered_to, extract(epoch from delivered_at)::float8 * 1000 as delivered_ms
    from updates where task_id is not null`
  const byId = new Map(updates.map((update) => [update.id, update]))
  const delivered = ledger.injections.flatMap((injection) => injection.items.map((item) => ({ injection, item })))

  const briefs = new Map(ledger.briefs.map((brief) => [brief.id, brief]))
  findings.none(
    'a session receives tasks that it holds, and none after their author was answered that another session got it',
    delivered.length,
    delivered.filter(({ injection, item }) => !mayBeDelivered(briefs.get(item.taskId), injection)).map(({ injection, item }) => describe(injection, item)),
  )
  findings.none(
    'a session receives the updates of that task unchanged',
    delivered.length,
    delivered
      .filter(({ item }) => item.updateId !== null)
      .filter(({ item }) => byId.get(item.updateId as string)?.task_id !== item.taskId || byId.get(item.updateId as string)?.revision !== item.revision)
      .map(({ injection, item }) => describe(injection, item)),
  )
  findings.none(
    'of every task a session receives the brief first, then its changes in order, each once',
    delivered.length,
    [...Map.groupBy(ledger.injections, (injection) => injection.session)].flatMap(([session, injections]) =>
      findDisorder(
        injections,
        updates,
        ledger.lostInjections.some((lost) => lost.session === session),
      ),
    ),
  )
  const final = Map.groupBy(
    delivered.filter(({ injection, item }) => injection.ack === 'final' && item.updateId !== null),
    ({ item }) => item.updateId,
  )
  findings.none(
    'an update is delivered once, or again only if it was not acknowledged',
    final.size,
    [...final].filter(([, group]) => group.length > 1).map(([id, group]) => `${id} to ${group.map(({ injection }) => injection.session).join(', ')}`),
  )
  checkArrivals(evidence, updates)
  await checkRows(
    evidence,
    'no update waits for a session that holds its task, when all have asked',
    admin`select count(*) from updates where task_id is not null`,
    admin`select u.id, u.task_id, a.session_id from updates u join assignments a on a.task_id = u.task_id and a.ended_at is null where u.status = 'queued'`,
  )
  await checkRows(
    evidence,
    'updates of a task are delivered in the order in which they were sent',
    admin`select count(*) from updates where task_id is not null and delivered_at is not null`,
    admin`
      select task_id, seq, delivered_at, before from (
        select task_id, seq, delivered_at, max(delivered_at) over (partition by task_id order by seq rows between unbounded preceding and 1 preceding) as before
        from updates where task_id is not null and delivered_at is not null
      ) as delivered where before > delivered_at and not chaos.is_repeated(delivered_at)`,
  )
}

/** Whether a session could hold a task at some moment between the question and the answer, by what its author asked for and was answered. */
function mayBeDelivered(brief: Brief | undefined, injection: Injection): boolean {
  if (brief === undefined) return false
  const mayHaveGiven = brief.moves.map((move) => move.kind === 'assign' && move.session === injection.session && move.startedMs <= injection.deliveredMs)
  const taken = brief.moves.findLastIndex(
    (move) => move.isAccepted && (move.answeredMs as number) < injection.askedMs && !(move.kind === 'assign' && move.session === injection.session),
  )
  return brief.moves.some((move, index) => {
    // What was refused in the end, after a request of it was lost, may take effect at any time.
    const mayBeLate = !move.isAccepted && move.wasLost
    const isRefused = move.answeredMs !== null && !move.isAccepted && !mayBeLate
    return mayHaveGiven[index] && !isRefused && (index > taken || mayBeLate)
  })
}

/** The updates that the brief of a task contained: changes up to its revision, and notes. Returns the number of the last. */
function deliveredBy(item: Delivery, ofTask: readonly Update[]): number {
  const isNote = ({ type }: Update) => type === 'note' || type === 'revision_request'
  const contained = ofTask.filter((update) => (isNote(update) ? item.noteIds.includes(update.id) : update.revision <= item.revision))
  return Math.max(0, ...contained.map((update) => update.seq))
}

/** Goes through the answers of one session; only within each answer where several ask for it, whose answers have no order. */
function findDisorder(injections: readonly Injection[], updates: readonly Update[], hasLost: boolean): string[] {
  const ofTasks = Map.groupBy(updates, (update) => update.task_id)
  const broken: string[] = []
  let known = new Map<string, number>()
  for (const injection of injections) {
    const now = injection.isAlone ? new Map(known) : new Map<string, number>()
    for (const item of injection.items) {
      const ofTask = ofTasks.get(item.taskId) ?? []
      const before = now.get(item.taskId)
      if (item.kind === 'assignment') {
        now.set(item.taskId, deliveredBy(item, ofTask))
        continue
      }
      const seq = ofTask.find((update) => update.id === item.updateId)?.seq ?? 0
      const isFirst = before === undefined && injection.isAlone && !hasLost
      if (isFirst || seq <= (before ?? 0)) broken.push(`${describe(injection, item)}: ${seq} after ${before ?? 'nothing'}`)
      now.set(item.taskId, seq)
    }
    // What was not confirmed comes again.
    if (injection.ack === 'final') known = now
  }
  return broken
}

/** What is recorded as delivered to a session has reached it. */
function checkArrivals({ ledger, findings, clock }: Evidence, updates: readonly Update[]): void {
  const sessions = Map.groupBy(ledger.injections, (injection) => injection.session)
  const names = new Set([...sessions.keys(), ...ledger.lostInjections.map((lost) => lost.session)])
  const ofTasks = Map.groupBy(updates, (update) => update.task_id)
  const delivered = updates.filter((update) => update.delivered_to !== null && names.has(update.delivered_to))
  const hasArrived = (update: Update): boolean =>
    (sessions.get(update.delivered_to as string) ?? []).some(({ items }) =>
      items.some(
        (item) =>
          item.updateId === update.id ||
          (item.kind === 'assignment' &&
            item.taskId === update.task_id &&
            deliveredBy(
              item,
              (ofTasks.get(update.task_id) ?? []).filter(({ id }) => id === update.id),
            ) > 0),
      ),
    )
  const wasLost = (update: Update): boolean =>
    ledger.lostInjections.some((lost) => {
      const { fromMs, toMs } = clock.shown(lost.fromMs - CLOCK_MS, lost.toMs + CLOCK_MS)
      return lost.session === update.delivered_to && fromMs < (update.delivered_ms as number) && (update.delivered_ms as number) < toMs
    })
  findings.none(
    'a delivered update has reached its session, apart from answers to requests without a key that were lost',
    delivered.length,
    delivered
      .filter((update) => !hasArrived(update) && !wasLost(update))
      .map((update) => `${update.task_id} ${update.seq} ${update.id} to ${update.delivered_to}`),
  )
}

function describe({ session, askedMs }: Injection, { kind, taskId, updateId, revision }: Delivery): string {
  return `${session} at ${new Date(askedMs).toISOString()}: ${kind} ${updateId ?? ''} of ${taskId}, revision ${revision}`
}
