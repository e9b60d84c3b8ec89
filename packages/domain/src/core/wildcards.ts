/** Whether a text fits a pattern in which `*` stands for anything. Each part is sought where it is first found, so no pattern takes longer than others. */
export function fitsPattern(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return text === pattern
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false
  let from = first.length
  const end = text.length - last.length
  for (const part of rest) {
    const found = text.indexOf(part, from)
    if (found === -1 || found + part.length > end) return false
    from = found + part.length
  }
  return true
}

/** Whether text with unknown pieces (null) could fit a pattern. Where that is not known, it could. */
export function mayFitPattern(pattern: string, pieces: readonly (string | null)[]): boolean {
  if (!pieces.includes(null)) return fitsPattern(pattern, pieces.join(''))
  const isOpen = pattern.includes('*')
  const start = pattern.split('*')[0] as string
  const end = pattern.slice(pattern.lastIndexOf('*') + 1)
  const known = pieces.slice(0, pieces.indexOf(null)).join('')
  const knownEnd = pieces.slice(pieces.lastIndexOf(null) + 1).join('')
  if (!isOpen && known.length + knownEnd.length > pattern.length) return false
  return (start.startsWith(known) || (isOpen && known.startsWith(start))) && (end.endsWith(knownEnd) || (isOpen && knownEnd.endsWith(end)))
}
