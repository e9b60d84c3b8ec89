import { DomainError } from '@muster/domain'
import { checkWrites, type Deps, describeOutage, describeRestore, findLogProblems, isDatabaseUnavailable } from '@muster/usecases'
import { within } from './http/deadline.ts'

/** Longest time the database may take to answer before the process counts as not ready. */
const READY_MS = 2_000

/** What a process needs to serve, in the order in which it is looked at. A part after a failed one is usually unknown. */
export const READINESS_PARTS = ['process', 'database', 'migrations', 'writes', 'queues', 'relay', 'partitions', 'history'] as const

export type ReadinessPart = (typeof READINESS_PARTS)[number]

/** `degraded`: requests are served, but an operator has to look. `unknown`: another part failed first. */
export const PART_STATUSES = ['ok', 'degraded', 'failed', 'unknown'] as const

export interface PartState {
  status: (typeof PART_STATUSES)[number]
  /** What is wrong and what to do; null where nothing is known to be. */
  detail: string | null
}

export interface ReadinessReport {
  /** Why this process cannot serve, or null when it can. */
  reason: string | null
  parts: Record<ReadinessPart, PartState>
}

/** Whether this process can serve. */
export interface Readiness {
  report(): Promise<ReadinessReport>
  /** The start is complete. */
  markStarted(): void
}

export interface ReadinessQuestions {
  /** What the schema of the database lacks, or null. */
  findMissingMigrations(): Promise<string | null>
  /** The queues that should be there and are not. */
  findMissingQueues(): Promise<string[]>
}

const OK: PartState = { status: 'ok', detail: null }
const UNKNOWN: PartState = { status: 'unknown', detail: null }
const failed = (detail: string): PartState => ({ status: 'failed', detail })
const degradedBy = (problem: string | null): PartState => (problem === null ? OK : { status: 'degraded', detail: problem })

/** One look at the database, as far as it has come. */
interface Look {
  parts: Record<ReadinessPart, PartState>
  current: ReadinessPart
  ended: Promise<void>
}

export function createReadiness(deps: Deps & { stopping: AbortSignal }, questions: ReadinessQuestions): Readiness {
  let isStarted = false
  let underWay: Look | undefined
  const begin = (): Look => {
    const parts = Object.fromEntries(READINESS_PARTS.map((part) => [part, UNKNOWN])) as Look['parts']
    const look: Look = { parts, current: 'database', ended: Promise.resolve() }
    look.ended = lookAt(deps, questions, look).finally(() => {
      underWay = undefined
    })
    return look
  }
  const processState = () => {
    if (deps.stopping.aborted) return failed('The server is shutting down.')
    return isStarted ? OK : failed('The server is still starting.')
  }
  return {
    async report() {
      // Callers share one look: a public endpoint must not be a way to keep the database busy.
      underWay ??= begin()
      const look = underWay
      let outage: PartState | undefined
      await within(READY_MS, look.ended).catch((error: unknown) => {
        // It did not answer in time.
        if (error instanceof DomainError) outage = failed('The database is not reachable at the moment.')
        else if (isDatabaseUnavailable(error)) outage = failed(describeOutage(error))
        else throw error
      })
      const parts = { ...look.parts, ...(outage === undefined ? {} : { [look.current]: outage }), process: processState() }
      // What a database lacks also explains why a start is not complete.
      const reason = [...READINESS_PARTS.slice(1), 'process' as const].map((part) => parts[part]).find(({ status }) => status === 'failed')
      return { reason: deps.stopping.aborted ? parts.process.detail : (reason?.detail ?? null), parts }
    },
    markStarted() {
      isStarted = true
    },
  }
}

/** Lists, searches and statistics go to the primary then, which serves them as well. */
async function replicaProblem({ replica }: Deps): Promise<string | null> {
  const problem = (await replica?.look()) ?? null
  return problem === null ? null : `The database of DATABASE_READ_URL is not used, and the primary answers in its place: ${problem}`
}

async function lookAt(deps: Deps, questions: ReadinessQuestions, look: Look): Promise<void> {
  const { parts } = look
  const missing = await questions.findMissingMigrations()
  parts.database = degradedBy(await replicaProblem(deps))
  parts.migrations = missing === null ? OK : failed(missing)
  if (missing !== null) return
  look.current = 'writes'
  await checkWrites(deps)
  parts.writes = OK
  look.current = 'queues'
  const queues = await questions.findMissingQueues()
  parts.queues =
    queues.length === 0
      ? OK
      : failed(`The database lacks the queues ${queues.join(', ')}. A process makes them when it starts: wait for it, or restart this one.`)
  look.current = 'relay'
  const problems = await findLogProblems(deps)
  parts.relay = degradedBy(problems.relay)
  parts.partitions = degradedBy(problems.partitions)
  parts.history = degradedBy(await describeRestore(deps))
}
