import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatBot, ChatClient, ChatUpdate } from '@muster/domain'
import { startLoop } from '@muster/jobs'
import { BOT_LEASE_SECONDS, type Deps, holdChatBot, listChatBots, releaseChatBot, storeChatProgress, takeChatRequest } from '@muster/usecases'

/** A bot that is new, or whose worker died, is noticed within `lookMs`; who reads one renews the hold on it each `renewMs`. */
const PACE = {
  lookMs: 5_000,
  renewMs: (BOT_LEASE_SECONDS * 1_000) / 3,
  /** The pause after a refusal starts with `first` and doubles: up to `outage`, which ends by itself, or up to `lasting`, which a person has to end. */
  pauseMs: { first: 1_000, outage: 30_000, lasting: 600_000 },
}
/** An update that fails as often is passed over, so that those after it are read. */
const TRIES_MAX = 5
const RETRY_MS = 1_000

export interface Chatting {
  stop(): Promise<void>
}

export interface ChattingDeps extends Deps {
  workerId: string
  chats: ChatClient
}

interface Held {
  bot: ChatBot
  stopping: AbortController
  done: Promise<void>
}

/** Reads what people write to the bots of projects. One worker of all reads a bot; when it dies, another goes on from where it was. */
export function startChatting(deps: ChattingDeps, onError: (what: string) => (error: unknown) => void, pace = PACE): Chatting {
  const held = new Map<string, Held>()
  const look = async () => {
    const bots = new Map((await listChatBots(deps)).map((bot) => [bot.key, bot]))
    for (const [key, { stopping }] of held) if (!bots.has(key)) stopping.abort()
    for (const [key, bot] of bots) {
      const reading = held.get(key)
      if (reading !== undefined) reading.bot = bot
      else await take(bot)
    }
    return undefined
  }
  const take = async (bot: ChatBot) => {
    const fromId = await holdChatBot(deps, bot.key, deps.workerId)
    if (fromId === null) return
    const reading: Held = { bot, stopping: new AbortController(), done: Promise.resolve() }
    held.set(bot.key, reading)
    reading.done = readBot(deps, reading, fromId, pace)
      .catch(onError('read a bot'))
      .finally(() => held.delete(bot.key))
  }
  const loop = startLoop(look, { everyMs: pace.lookMs, onError: onError('look for bots') })
  return {
    async stop() {
      await loop.stop()
      const ending = [...held.values()]
      for (const { stopping } of ending) stopping.abort()
      await Promise.all(ending.map(({ done }) => done))
    },
  }
}

/** Reads a bot until it is stopped, or another worker holds it. */
async function readBot(deps: ChattingDeps, reading: Held, startId: number, { renewMs, pauseMs: pauses }: typeof PACE): Promise<void> {
  const { key } = reading.bot
  const { signal } = reading.stopping
  const renewing = setInterval(() => {
    holdChatBot(deps, key, deps.workerId).then(
      (fromId) => fromId === null && reading.stopping.abort(),
      // The lease may have gone to another worker by the time the database is back.
      () => reading.stopping.abort(),
    )
  }, renewMs)
  let fromId = startId
  let pauseMs = pauses.first
  try {
    while (!signal.aborted) {
      const poll = await deps.chats.poll(reading.bot, fromId, signal)
      if (poll.outcome === 'refused') {
        const longestMs = poll.isLasting ? pauses.lasting : pauses.outage
        const waitMs = Math.max(Math.min(pauseMs, longestMs), (poll.retryAfterSeconds ?? 0) * 1_000)
        pauseMs = Math.min(pauseMs * 2, longestMs)
        deps.log.warn({ reason: poll.reason, projects: projectsOf(reading.bot), wait_seconds: waitMs / 1_000 }, 'a bot cannot be read; it is tried again')
        await sleep(waitMs, undefined, { signal }).catch(() => undefined)
        continue
      }
      pauseMs = pauses.first
      for (const update of poll.updates) {
        if (signal.aborted || !(await handle(deps, reading, update))) return
        fromId = update.id + 1
        if (!(await storeChatProgress(deps, key, deps.workerId, fromId))) return
      }
    }
  } finally {
    clearInterval(renewing)
    // Its lease ends by itself then.
    await releaseChatBot(deps, key, deps.workerId).catch((error: unknown) => deps.log.warn({ err: error }, 'a bot could not be given back'))
  }
}

const projectsOf = ({ chats }: ChatBot) => [...new Set(chats.map(({ projectId }) => projectId))]

/** Returns false for an update that was not done before the worker had to stop: who reads the bot next gets it again. */
async function handle(deps: ChattingDeps, { bot, stopping: { signal } }: Held, update: ChatUpdate): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    try {
      const unsent = await update.handle((chat, request) => takeChatRequest(deps, bot, chat, request))
      if (unsent !== null) deps.log.warn({ reason: unsent, projects: projectsOf(bot) }, 'a reply of a bot was refused')
      return true
    } catch (error) {
      if (signal.aborted) return false
      if (tries === TRIES_MAX) {
        deps.log.error({ err: error, projects: projectsOf(bot) }, 'an update of a bot is passed over')
        return true
      }
      await sleep(RETRY_MS * tries, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return false
    }
  }
}
