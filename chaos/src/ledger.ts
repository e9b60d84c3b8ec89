/** What the harness was told, to be held against what is in the database afterwards. */

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

export interface OutsideClaim {
  subtaskId: string
  attempt: number
  claimKey: string | null
  /** Unique part of the results that this claim hands in. */
  nonce: string
  /** How the last write of its end was answered: `settled` is 2xx, `refused` 412. */
  end: 'settled' | 'refused' | 'unknown' | 'none'
  did: string
}

export interface InboxDelivery {
  projectId: string
  session: string
  inboxId: string
  subtaskId: string
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

  accepted(spawn: Spawn, id: string): void {
    spawn.state = 'accepted'
    spawn.id = id
    this.byId.set(id, spawn)
  }

  count(state: Spawn['state']): number {
    return this.spawns.filter((spawn) => spawn.state === state).length
  }
}
