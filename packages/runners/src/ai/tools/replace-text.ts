/** What to replace, with line ends of either kind. */
export interface Replacement {
  oldText: string
  newText: string
  /** Replaces every occurrence; otherwise the only one. */
  all: boolean
}

/**
 * Replaces text whose line ends may be written either way: Read shows `\r\n` as `\n`, so a model cannot know which one a file has. Text outside of
 * the occurrences keeps its line ends. The new text gets those of the text it replaces, or else those of the file.
 *
 * `count` is the number of occurrences that do not overlap. Without `all`, and with any other count than 1, `text` is unchanged.
 */
export function replaceText(text: string, { oldText, newText, all }: Replacement): { text: string; count: number } {
  const lines = text.split('\r\n')
  const plain = lines.join('\n')
  const wanted = oldText.replaceAll('\r\n', '\n')
  const found = occurrences(plain, wanted)
  if (found.length === 0 || (found.length > 1 && !all)) return { text, count: found.length }
  const ending = lineEndingOf(text)
  const original = positionsIn(lines)
  const parts: string[] = []
  let end = 0
  for (const at of found) {
    const from = original(at)
    const to = original(at + wanted.length)
    parts.push(text.slice(end, from), withLineEnding(newText, lineEndingOf(text.slice(from, to)) ?? ending))
    end = to
  }
  return { text: [...parts, text.slice(end)].join(''), count: found.length }
}

function occurrences(text: string, wanted: string): number[] {
  const found: number[] = []
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) found.push(at)
  return found
}

/** The first line end of a text; null for a text of one line. */
function lineEndingOf(text: string): '\n' | '\r\n' | null {
  const at = text.indexOf('\n')
  if (at === -1) return null
  return text[at - 1] === '\r' ? '\r\n' : '\n'
}

function withLineEnding(text: string, ending: '\n' | '\r\n' | null): string {
  return ending === null ? text : text.replaceAll('\r\n', '\n').replaceAll('\n', ending)
}

/** Where a position of the plain text is in the original one. Positions are asked for in rising order. */
function positionsIn(lines: readonly string[]): (at: number) => number {
  let line = 0
  /** Of the plain text, where the line ends. */
  let lineEnd = (lines[0] as string).length
  return (at) => {
    while (at > lineEnd) {
      line += 1
      lineEnd += 1 + (lines[line] as string).length
    }
    return at + line
  }
}
