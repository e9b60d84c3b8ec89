/** The answers that the harness received, to compare with the database afterwards. */

export interface Spawn {
  /** In the metadata of the subtask: finds its row also when no answer came. */
  marker: string
  projectId: string
  agent: string
  runner: string
  session: string | null
  withKey: boolean
  state: 'asked' | 'accepted' | 'refused' | 'unknown'
  /** A request of it ended without an answer, so that it may have taken effect. */
  wasLost: boolean
  id: string | null
  /** What it was as it was last read, when it had ended by then. */
  seenEnd: string | null
}

export interface Cancel {
  id: string
  status: number
}

export interface Note {
  subtaskId: string
  text: string
  state: 'accepted' | 'refused' | 'unknown'
  updateId: string | null
}

/** A task, as its author knows it. */
export interface Brief {
  /** In the metadata of the task. */
  marker: string
  projectId: string
  session: string | null
  state: 'asked' | 'accepted' | 'unknown'
  id: string | null
  moves: Move[]
}

/** An author's requests to assign or end a task, in order. */
export interface Move {
  kind: 'assign' | 'dispatch' | 'complete' | 'cancel'
  /** The intended session; null if there is none, or before the answer names it. */
  session: string | null
  startedMs: number
  /** Null while its outcome is unknown. */
  answeredMs: number | null
  isAccepted: boolean
  /** A request of it ended without an answer: refused in the end, it may still take effect later. */
  wasLost: boolean
  /** What was handed in with it. */
  summary: string | null
}

/** A schedule, as its author knows it. */
export interface WrittenSchedule {
  /** In its metadata. */
  marker: string
  projectId: string
  state: 'asked' | 'accepted' | 'unknown'
  id: string | null
}

/** A note to the holder of a task, or a revision of it. */
export interface Change {
  kind: 'note' | 'revision'
  taskId: string
  text: string
  state: 'accepted' | 'refused' | 'unknown'
  updateId: string | null
  revision: number | null
  /** The revision that it was made from; null for a note. */
  from: number | null
}

/** One answer of an injection with anything about tasks in it. */
export interface Injection {
  session: string
  projectId: string
  /** Whether this actor alone injects into the session, so that its answers have an order. */
  isAlone: boolean
  /** When it was asked for first, and when the answer came. */
  askedMs: number
  deliveredMs: number
  /** `open`: a manual one that is not known to be confirmed, whose items may come again. */
  ack: 'final' | 'open'
  items: Delivery[]
}

export interface Delivery {
  kind: 'assignment' | 'update'
  taskId: string
  updateId: string | null
  revision: number
  /** Ids of the notes that a brief contains. */
  noteIds: string[]
}

/** An injection whose answer never came: what it took is delivered and was never seen. */
export interface LostInjection {
  session: string
  fromMs: number
  toMs: number
}

/** An answer to a question. */
export interface GivenAnswer {
  questionId: string
  /** Unique part of it. */
  nonce: string
  state: 'accepted' | 'refused' | 'unknown'
}

export type EndingVerb = 'complete' | 'fail' | 'release' | 'wait'

export interface OutsideClaim {
  subtaskId: string
  attempt: number
  claimKey: string | null
  /** Unique part of the results that this claim hands in. */
  nonce: string
  /** How the last write of its end was answered: `settled` is 2xx, `refused` 412. */
  end: 'settled' | 'refused' | 'unknown' | 'none'
  /** What the subtask was then, if it was settled: a result that was not accepted makes it pending again. */
  status: string | null
  did: string
  /** What it asked for to end it; null where it did not. */
  verb: EndingVerb | null
  /** Ids of the updates of a dispatched brief, in the order in which they came first. */
  delivered: string[]
  /** The brief, where it is one: its revision, and the ids of the notes in it. */
  brief: { revision: number; noteIds: string[] } | null
}

export interface InboxDelivery {
  projectId: string
  session: string
  inboxId: string
  /** Of the result that came with it; null where it is shown in part, as in an injection. */
  resultBytes: number | null
  claimId: string | null
  /** Manual claims: whether the confirmation is known to have arrived. */
  acknowledged: boolean
}

/** Inbox claims without an answer: what they took is delivered and was never seen. */
export interface LostInboxClaim {
  session: string
  limit: number
}

export class Ledger {
  readonly spawns: Spawn[] = []
  readonly byId = new Map<string, Spawn>()
  readonly cancels: Cancel[] = []
  readonly notes: Note[] = []
  readonly claims: OutsideClaim[] = []
  readonly deliveries: InboxDelivery[] = []
  readonly lostInboxClaims: LostInboxClaim[] = []
  readonly briefs: Brief[] = []
  readonly changes: Change[] = []
  readonly schedules: WrittenSchedule[] = []
  readonly answers: GivenAnswer[] = []
  readonly injections: Injection[] = []
  readonly lostInjections: LostInjection[] = []
  /** Updates that a check-in was answered to have acknowledged. */
  readonly acknowledgedIds: string[] = []
  /** Messages that were stored as of long ago, and may be dropped at any time. */
  readonly oldMessages: string[] = []

  accepted(spawn: Spawn, id: string): void {
    spawn.state = 'accepted'
    spawn.id = id
    this.byId.set(id, spawn)
  }

  count(state: Spawn['state']): number {
    return this.spawns.filter((spawn) => spawn.state === state).length
  }
}
