import { createRandom } from '../random.ts'
import type { Supervised } from '../supervised.ts'
import type { Tenant } from '../tenants.ts'
import { pause, type Scene } from './actor.ts'

const SILENCE_MAX_MS = 25_000

export interface Follower {
  name: string
  projectId: string
  type: string | null
  /** The places of all events it has got, in the order in which they came. */
  seen: number[]
  last: number
  reconnects: number
}

interface FollowerOptions {
  name: string
  type: string | null
}

/** Reads a project's log as server-sent events, from the beginning, and comes back with `Last-Event-ID` whenever it loses the stream. */
export function startFollower(scene: Scene, tenant: Tenant, { name, type }: FollowerOptions): { follower: Follower; done: Promise<void> } {
  const follower: Follower = { name, projectId: tenant.projectId, type, seen: [], last: 0, reconnects: -1 }
  const random = createRandom(scene.seed, 'follower', tenant.name, name)
  const run = async () => {
    while (!scene.over.aborted) {
      await scene.absences.back
      follower.reconnects += 1
      // Now and then it goes by itself, as readers do that have their laptop closed.
      const patience = AbortSignal.timeout(random.chance(0.3) ? random.whole(1_000, 6_000) : 600_000)
      await readStream(scene, tenant, scene.client.pickApi(random), follower, patience).catch(() => {})
      await pause(random.whole(50, 800), scene.over)
    }
  }
  return { follower, done: run() }
}

async function readStream(scene: Scene, tenant: Tenant, api: Supervised, follower: Follower, patience: AbortSignal): Promise<void> {
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), SILENCE_MAX_MS)
  try {
    const answer = await fetch(`${api.url}/events?after=0${follower.type === null ? '' : `&type=${follower.type}`}`, {
      headers: { authorization: `Bearer ${tenant.key}`, accept: 'text/event-stream', ...(follower.last > 0 ? { 'last-event-id': String(follower.last) } : {}) },
      signal: AbortSignal.any([scene.over, scene.absences.leaving, patience, silence.signal]),
    })
    scene.findings.looked('a stream is opened, or refused with 503', 1)
    if (answer.status !== 200 || answer.body === null) {
      const text = await answer.text()
      if (answer.status !== 503)
        scene.findings.broke('a stream is opened, or refused with 503', `${follower.name} at ${api.name}: ${answer.status} ${text.slice(0, 200)}`)
      return
    }
    let rest = ''
    for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), SILENCE_MAX_MS)
      rest += chunk
      const blocks = rest.split('\n\n')
      // The last one is not whole yet; what is cut off there comes again.
      rest = blocks.pop() ?? ''
      for (const block of blocks) take(scene, follower, block)
    }
  } finally {
    clearTimeout(timer)
  }
}

function take(scene: Scene, follower: Follower, block: string): void {
  const id = /^id: (\d+)$/m.exec(block)?.[1]
  if (id === undefined) return
  const place = Number(id)
  if (place <= follower.last)
    scene.findings.broke('followers get events in order, each once', `${follower.name} of ${follower.projectId}: ${place} after ${follower.last}`)
  const data = JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '{}') as { id?: number; project_id?: string }
  if (data.id !== place || data.project_id !== follower.projectId) {
    scene.findings.broke('followers get the events of their own project', `${follower.name}: ${block.slice(0, 200)}`)
  }
  follower.seen.push(place)
  follower.last = place
}
