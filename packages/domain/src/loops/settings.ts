import { z } from 'zod'

/** What happens to work that goes in circles. `block` begins with a notice too. */
export const LOOP_ACTIONS = ['block', 'notice', 'off'] as const
export type LoopAction = (typeof LOOP_ACTIONS)[number]

/** From when on work counts as going in circles, and what happens then. */
export interface LoopRules {
  /** As often as the same call may fail in the same way until a notice is due. As many more, and the work is blocked. */
  repeats: number
  /** Seconds without a new step until a notice is due. As many more, and the run is blocked. Null: silence never counts. */
  quietSeconds: number | null
  action: LoopAction
}

export const DEFAULT_LOOP_RULES: LoopRules = { repeats: 3, quietSeconds: 600, action: 'block' }

/** Shorter silences are ordinary, so workers ask for the settings of a project only after one of this length. */
export const QUIET_SECONDS_MIN = 60
const REPEATS_MAX = 20

/** `loops` in the settings of a project, as it is stored and sent. Absent fields are those of `DEFAULT_LOOP_RULES`. */
export const loopSettingsSchema = z.strictObject({
  repeats: z
    .int()
    .min(2)
    .max(REPEATS_MAX)
    .optional()
    .describe('After so many equal failures of one call a notice is sent (3); after twice as many the run is blocked.'),
  quiet_seconds: z
    .int()
    .min(0)
    .max(86_400)
    .refine((seconds) => seconds === 0 || seconds >= QUIET_SECONDS_MIN, `must be 0, or at least ${QUIET_SECONDS_MIN}`)
    .optional()
    .describe('After so many seconds without a new step a notice is sent (600); after twice as many the run is blocked. 0: never.'),
  action: z.enum(LOOP_ACTIONS).optional().describe('block (the default): a notice, then the end. notice: the notice alone. off: nothing.'),
})

export type LoopSettings = z.infer<typeof loopSettingsSchema>

/** The rules that hold in a project. */
export function loopRules(settings: LoopSettings = {}): LoopRules {
  const quietSeconds = settings.quiet_seconds ?? DEFAULT_LOOP_RULES.quietSeconds
  return {
    repeats: settings.repeats ?? DEFAULT_LOOP_RULES.repeats,
    quietSeconds: quietSeconds === 0 ? null : quietSeconds,
    action: settings.action ?? DEFAULT_LOOP_RULES.action,
  }
}
