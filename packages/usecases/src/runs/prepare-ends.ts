import {
  type AttemptEnd,
  CONTINUATION_BYTES_MAX,
  cutToBytes,
  findBlocks,
  type NplBlock,
  type PartialResult,
  RESULT_BYTES_MAX,
  toStorableJson,
  toStorableText,
  type UsageAdded,
} from '@muster/domain'

/** The end of one attempt, as its worker or the reaper reports it. */
export interface RunEnd {
  subtaskId: string
  attempt: number
  /** The task of the subtask, null if it has none; looked up if absent. */
  taskId?: string | null
  /** The sub-agent of the subtask, null if it has none; looked up if absent. */
  subagentName?: string | null
  end: AttemptEnd
  /** Used since the last checkpoint. */
  usage?: Partial<UsageAdded>
  /** Updates that were fetched for the attempt, and that its work never received. */
  undeliveredUpdateIds?: readonly string[]
  /** For the reaper: only if the lease has expired, checked under the lock of the row. */
  onlyIfLapsed?: boolean
  /** Called after the commit, if the end was evaluated. */
  onEvaluated?: (result: { score: number | null; label: string }) => void
}

/** An end in storable form. */
export interface PreparedEnd extends RunEnd {
  /** The blocks of the result; empty without a result. */
  blocks: readonly NplBlock[]
}

const ERROR_BYTES_MAX = 16_384

/** Work in proportion to the output of programs, done before anything is locked. */
export function prepareEnds(reported: readonly RunEnd[]): PreparedEnd[] {
  return reported.map((report) => {
    const end = storableEnd(report.end)
    return { ...report, end, blocks: end.kind === 'completed' ? findBlocks(end.result) : [] }
  })
}

/** Makes the output of a program storable: no U+0000, well-formed, and within the limits. */
function storableEnd(end: AttemptEnd): AttemptEnd {
  switch (end.kind) {
    case 'completed': {
      const { text, truncated } = cutToBytes(toStorableText(end.result), RESULT_BYTES_MAX)
      return {
        ...end,
        result: text,
        truncated: end.truncated || truncated,
        outputs: toStorableJson(end.outputs),
        summary: end.summary === null ? null : cutToBytes(toStorableText(end.summary), ERROR_BYTES_MAX).text,
      }
    }
    case 'waiting':
      return { ...end, continuation: storableContinuation(end.continuation) }
    case 'blocked':
      return { ...end, reason: storableError(end.reason), ...storablePartial(end) }
    case 'budget_exceeded':
      return {
        ...end,
        error: storableError(end.error),
        ...storablePartial(end),
        ...(end.continuation === undefined ? {} : { continuation: storableContinuation(end.continuation) }),
      }
    case 'errored':
      return { ...end, error: storableError(end.error), ...storablePartial(end) }
    case 'timed_out':
    case 'cancelled':
      return { ...end, ...storablePartial(end) }
    default:
      return end
  }
}

function storableContinuation(text: string | null): string | null {
  const storable = text === null ? null : toStorableText(text)
  return storable === null || Buffer.byteLength(storable) > CONTINUATION_BYTES_MAX ? null : storable
}

function storableError(text: string): string {
  return cutToBytes(toStorableText(text), ERROR_BYTES_MAX).text
}

function storablePartial({ partialResult, truncated: wasTruncated = false }: PartialResult): PartialResult {
  if (partialResult === null) return { partialResult }
  const { text, truncated } = cutToBytes(toStorableText(partialResult), RESULT_BYTES_MAX)
  return { partialResult: text, truncated: wasTruncated || truncated }
}
