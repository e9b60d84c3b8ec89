/** A step of a transcript that is about a use of a tool. Runners name the use by `id`; a program's own steps may lack it. */
export interface ToolStep {
  /** Its number in the transcript. */
  seq: number
  kind: 'tool_call' | 'tool_result'
  id: string | null
  tool: string | null
  /** Of a call: a digest of its arguments. */
  argumentsDigest: string | null
  /** Of a call: the beginning of its arguments as JSON, for people. */
  shownArguments: string | null
  /** Of a result: its text if the use failed, else null. */
  failure: string | null
}

/** A use of a tool that has ended. */
export interface ToolEnd {
  /** Number of the step with its result. */
  step: number
  tool: string
  argumentsDigest: string
  shownArguments: string
  /** The text of its failure; null if it succeeded. */
  failure: string | null
}

/** A result further away from its call than this is of a call that is not known, so that it does not matter how much of a transcript is read. */
export const CALL_DISTANCE_MAX = 100

/** The uses of tools in a transcript that have ended, in the order of their results. A result whose call is unknown is left out. */
export function toolEnds(steps: readonly ToolStep[]): ToolEnd[] {
  const open: ToolStep[] = []
  const ends: ToolEnd[] = []
  for (const step of steps) {
    if (step.kind === 'tool_call') {
      open.push(step)
      continue
    }
    const place = open.findLastIndex((call) => isResultOf(step, call))
    const [call] = place < 0 ? [] : open.splice(place, 1)
    if (call === undefined || step.seq - call.seq > CALL_DISTANCE_MAX) continue
    const { tool, argumentsDigest, shownArguments } = call
    if (tool === null) continue
    ends.push({ step: step.seq, tool, argumentsDigest: argumentsDigest ?? '', shownArguments: shownArguments ?? '', failure: step.failure })
  }
  return ends
}

function isResultOf(result: ToolStep, call: ToolStep): boolean {
  if (result.id !== null || call.id !== null) return result.id === call.id
  return result.tool === null || result.tool === call.tool
}
