import { oneLine } from '../core/fenced-text.ts'
import { cutToCodePoints } from '../core/text.ts'
import type { LoopRules } from './settings.ts'
import type { ToolEnd } from './tool-ends.ts'

/** The same use of a tool that failed again and again in the same way. */
export interface Loop {
  tool: string
  shownArguments: string
  failure: string
  /** How often. */
  count: number
  /** Numbers of the first and the last step in which it failed. */
  fromStep: number
  toStep: number
}

/** A failure counts together with those in this many steps before it. */
export const LOOP_STEPS = 300
const SHOWN_ARGUMENTS = 300
const SHOWN_FAILURE = 500

/**
 * The loop that the last of these uses goes on with, or begins; null if it succeeded.
 *
 * Counted are uses of the same tool with the same arguments and the same failure. A success in between resets the count, unless it only repeats an earlier
 * one: who reads the same file before each failure makes no progress by it. Failures of other uses do not count, and do not reset.
 */
export function loopAt(ends: readonly ToolEnd[]): Loop | null {
  return loopOf(ends.map(keyed))
}

interface KeyedEnd extends ToolEnd {
  /** The same for every use of a tool with the same arguments. */
  use: string
  /** The same for every failure of the same kind; null if it succeeded. */
  failureKey: string | null
}

function keyed(end: ToolEnd): KeyedEnd {
  return { ...end, use: JSON.stringify([end.tool, end.argumentsDigest]), failureKey: end.failure === null ? null : failureKeyOf(end.failure) }
}

function loopOf(ends: readonly KeyedEnd[]): Loop | null {
  const last = ends.at(-1)
  if (last === undefined || last.failure === null) return null
  const succeeded = new Set<string>()
  let same: KeyedEnd[] = []
  for (const end of ends) {
    if (end.step <= last.step - LOOP_STEPS) continue
    if (end.failureKey === null) {
      if (!succeeded.has(end.use) || end.use === last.use) same = []
      succeeded.add(end.use)
    } else if (end.use === last.use && end.failureKey === last.failureKey) same.push(end)
  }
  const { tool, shownArguments, failure, step: toStep } = last
  return { tool, shownArguments, failure, count: same.length, fromStep: same[0]?.step ?? toStep, toStep }
}

/** What the newest uses of tools mean for the work. */
export interface LoopFindings {
  /** A notice is due for each. Each failure has its own answer, so it does not matter in which portions the uses are looked at. */
  notices: Loop[]
  /** The work is to be blocked for this one; null if it goes on. */
  block: Loop | null
}

/**
 * Looks at the uses that ended after a step: which make a loop long enough for a notice, and which for the end of the work.
 *
 * @param ends the uses of the attempt, at least those of `LOOP_STEPS` steps before the first that is looked at
 */
export function findLoops(ends: readonly ToolEnd[], afterStep: number, { repeats, action }: Pick<LoopRules, 'repeats' | 'action'>): LoopFindings {
  const findings: LoopFindings = { notices: [], block: null }
  if (action === 'off') return findings
  const all = ends.map(keyed)
  all.forEach((end, place) => {
    if (end.step <= afterStep) return
    const loop = loopOf(all.slice(0, place + 1))
    if (loop === null) return
    if (loop.count === repeats) findings.notices.push(loop)
    if (loop.count >= 2 * repeats && action === 'block') findings.block ??= loop
  })
  return findings
}

/** Times, durations and addresses differ each time, and say nothing about the failure. Other numbers do: how many tests fail, or in which line. */
const VARYING =
  /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b|\b\d+(?:\.\d+)?\s?(?:ms|µs|us|ns|s|sec|secs|seconds|minutes|min)\b|\b0x[0-9a-f]+\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi
const SPACE = /\s+/g

function failureKeyOf(failure: string): string {
  return failure.replaceAll(VARYING, '#').replaceAll(SPACE, ' ').trim()
}

function evidence({ shownArguments, failure }: Pick<Loop, 'shownArguments' | 'failure'>): string[] {
  const words = oneLine(failure)
  return [
    `Arguments: ${cutToCodePoints(oneLine(shownArguments), SHOWN_ARGUMENTS)}`,
    `Failure: ${words === '' ? 'it said nothing' : cutToCodePoints(words, SHOWN_FAILURE)}`,
  ]
}

/** The notice about a loop, for the agent. */
export function renderLoopNotice(loop: Loop, { repeats, action }: Pick<LoopRules, 'repeats' | 'action'>): string {
  return [
    `You are going in circles: ${usesOf(loop)} failed ${loop.count} times in the same way (steps ${loop.fromStep} to ${loop.toStep}).`,
    ...evidence(loop),
    'The same call will fail again. Read the failure, then change the arguments or what they act on, or use another tool. If you cannot go on, say what is missing.',
    ...(action === 'block' ? [`After ${repeats} more such failures this work ends as blocked.`] : []),
  ].join('\n')
}

/** Why work was blocked, with the evidence. */
export function loopReason(loop: Loop): string {
  return [`It went in circles: ${usesOf(loop)} failed ${loop.count} times in the same way (steps ${loop.fromStep} to ${loop.toStep}).`, ...evidence(loop)].join(
    '\n',
  )
}

function usesOf({ tool }: Loop): string {
  return `${oneLine(tool)} with the same arguments`
}

/** The notice about a silence, for the agent. */
export function renderQuietNotice(seconds: number, { action }: Pick<LoopRules, 'action'>): string {
  return [
    `There has been no step for ${seconds} seconds.`,
    'If you wait for something, say for what. If a program hangs, stop it and go another way.',
    ...(action === 'block' ? [`After ${seconds} more seconds without a step this work ends as blocked.`] : []),
  ].join('\n')
}

/** Why a run was blocked that made no step. */
export function quietReason(seconds: number, lastStep: number): string {
  return `It made no step for ${seconds} seconds after step ${lastStep}.`
}
