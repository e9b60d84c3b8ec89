import { setTimeout as sleep } from 'node:timers/promises'
import type { Transformer } from 'grammy'

/** A bot may send 30 messages a second. Its calls begin at least this far apart. */
const CALL_MS_MIN = 35
/** What Telegram asks a bot to wait is slept through if it is at most this long; otherwise it is the answer to a message that is not sent. */
const PAUSE_MS_SLEPT = 1_000

/** The pace of each bot in this process, whatever it sends: messages of all its projects, and replies. */
export interface BotPace {
  /**
   * For the calls of a bot. A message that would come within a pause that Telegram has asked for is answered like the one that it refused. The answer to a
   * button is tried, because the person waits for it and Telegram takes it for some seconds only.
   */
  of(token: string, signal: AbortSignal): Transformer
  /** Ends when the next call of the bot may begin, in whichever process. */
  rest(token: string): Promise<void>
}

interface Bot {
  /** Ends when the next call may look for its turn. */
  line: Promise<void>
  lastMs: number
  pausedUntilMs: number
}

export function createBotPace(): BotPace {
  const bots = new Map<string, Bot>()
  const botOf = (token: string): Bot => {
    const known = bots.get(token)
    if (known !== undefined) return known
    const bot = { line: Promise.resolve(), lastMs: Number.NEGATIVE_INFINITY, pausedUntilMs: 0 }
    bots.set(token, bot)
    return bot
  }
  return {
    async rest(token) {
      const bot = botOf(token)
      for (let waitMs = msToNext(bot); waitMs > 0; waitMs = msToNext(bot)) await sleep(Math.ceil(waitMs))
    },
    of(token, signal) {
      const bot = botOf(token)
      return async (call, method, payload, callSignal) => {
        const seconds = await turn(bot, method === 'sendMessage' ? () => bot.pausedUntilMs - performance.now() : () => 0, signal)
        if (seconds > 0) return { ok: false, error_code: 429, description: `Too Many Requests: retry after ${seconds}`, parameters: { retry_after: seconds } }
        const answer = await call(method, payload, callSignal)
        if (!answer.ok && answer.error_code === 429) bot.pausedUntilMs = performance.now() + (answer.parameters?.retry_after ?? 0) * 1_000
        return answer
      }
    },
  }
}

const msToNext = ({ lastMs }: Bot) => lastMs + CALL_MS_MIN - performance.now()

/**
 * Waits until a call of the bot may begin. The calls stand in line, and the time of each counts from when the one before it really began: timers that are
 * late make none follow another faster, and one that is early is set again.
 *
 * @returns seconds for which Telegram has asked the bot to wait; 0: the call may begin
 */
async function turn(bot: Bot, msOfPause: () => number, signal: AbortSignal): Promise<number> {
  const before = bot.line
  const { promise, resolve } = Promise.withResolvers<void>()
  bot.line = promise
  try {
    await before
    for (;;) {
      const pauseMs = msOfPause()
      if (pauseMs > PAUSE_MS_SLEPT) return Math.ceil(pauseMs / 1_000)
      const waitMs = Math.max(pauseMs, msToNext(bot))
      if (waitMs <= 0) break
      await sleep(Math.ceil(waitMs), undefined, { signal })
    }
    signal.throwIfAborted()
    bot.lastMs = performance.now()
    return 0
  } finally {
    resolve()
  }
}
