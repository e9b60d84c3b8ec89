import type { HeartbeatRequest, UsageDelta } from '../generated/openapi.ts'

type Body = Omit<HeartbeatRequest, 'lease_token'>

/** Reports that are sent together, with the key under which the server stores them once. */
interface Batch {
  body: Body
  idempotencyKey: string
}

/** The server takes so many steps, or acknowledgements, in one heartbeat. */
const MOST = 1000

/** What a run has reported and the server does not have yet. */
export class Outbox {
  readonly steps: NonNullable<Body['steps']> = []
  readonly acknowledged: string[] = []
  #usage: UsageDelta | undefined

  get isEmpty(): boolean {
    return this.steps.length === 0 && this.acknowledged.length === 0 && this.#usage === undefined
  }

  use(usage: UsageDelta): void {
    const sum: Record<string, unknown> = { ...this.#usage }
    for (const [name, value] of Object.entries(usage)) sum[name] = typeof value === 'number' ? ((sum[name] as number | undefined) ?? 0) + value : value
    this.#usage = sum
  }

  /** Takes what there is, as far as one heartbeat may carry it. */
  take(): Batch {
    const steps = this.steps.splice(0, MOST)
    const acknowledged = this.acknowledged.splice(0, MOST)
    const usage = this.#usage
    this.#usage = undefined
    const body: Body = {
      ...(steps.length === 0 ? {} : { steps }),
      ...(acknowledged.length === 0 ? {} : { ack_update_ids: acknowledged }),
      ...(usage === undefined ? {} : { usage }),
    }
    return { body, idempotencyKey: crypto.randomUUID() }
  }
}
