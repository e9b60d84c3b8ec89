import {
  type AttemptEnd,
  cutToBytes,
  findBlocks,
  type NplBlock,
  type PartialResult,
  RESULT_BYTES_MAX,
  toStorableJson,
  toStorableText,
  type Usage,
} from '@muster/domain'

/** The end of one attempt, as whoever ran it, or the reaper, reports it. */
export interface RunEnd {
  subtaskId: string
  attempt: number
  /** The brief that it is about, null where there is none; looked up where the caller does not know. */
  taskId?: string | null
  end: AttemptEnd
  /** Used since the last checkpoint. */
  usage?: Partial<Omit<Usage, 'steps'>>
  /** The reaper's: only if the lease has really lapsed, now that the row is locked. */
  onlyIfLapsed?: boolean
}

/** An end as it can be stored. */
export interface PreparedEnd extends RunEnd {
  /** Those of the result; none where there is none. */
  blocks: readonly NplBlock[]
}

const ERROR_BYTES_MAX = 16_384

/** What takes time in proportion to what programs have delivered, and so is done before anything is locked. */
export function prepareEnds(reported: readonly RunEnd[]): PreparedEnd[] {
  return reported.map((report) => {
    const end = storableEnd(report.end)
    return { ...report, end, blocks: end.kind === 'completed' ? findBlocks(end.result) : [] }
  })
}

/** Makes whatever a program delivered storable: no U+0000, well-formed, and within the limits. */
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
    case 'blocked':
      return { ...end, reason: storableError(end.reason), ...storablePartial(end) }
    case 'errored':
    case 'budget_exceeded':
      return { ...end, error: storableError(end.error), ...storablePartial(end) }
    case 'timed_out':
    case 'cancelled':
      return { ...end, ...storablePartial(end) }
    default:
      return end
  }
}

function storableError(text: string): string {
  return cutToBytes(toStorableText(text), ERROR_BYTES_MAX).text
}

function storablePartial({ partialResult, truncated: wasTruncated = false }: PartialResult): PartialResult {
  if (partialResult === null) return { partialResult }
  const { text, truncated } = cutToBytes(toStorableText(partialResult), RESULT_BYTES_MAX)
  return { partialResult: text, truncated: wasTruncated || truncated }
}
