/**
 * How text of other authors stands in text that an agent reads. What Muster says itself are single lines; what others wrote stands either
 * on one of these lines, without line breaks and brackets, or in a block whose end its author cannot write.
 */

const FENCE_LENGTH = 12

/** The fence of one delivery: the random end of a new UUID. Pure code has no randomness of its own. */
export function fenceOf(newId: string): string {
  return newId.replaceAll('-', '').slice(-FENCE_LENGTH)
}

/** The exact text in a block that it cannot end: the closing line contains a name that the text does not. */
export function fenced(text: string, fence: string): string {
  let name = fence
  while (text.includes(name)) name += 'x'
  return `<content-${name}>\n${text}\n</content-${name}>`
}

/** `Label: text` where the text is one plain line, otherwise the label with a block. */
export function labelledOrFenced(label: string, text: string, fence: string): string {
  return text === headerText(text) ? `${label}: ${text}` : `${label}:\n${fenced(text, fence)}`
}

/** Text on one line: spaces for line breaks and control characters, and nothing invisible, such as the signs that reverse the direction of writing. */
export function oneLine(text: string): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(INVISIBLE, '')
    .trim()
}

// Not the joiners: several scripts and many emoji are written with them.
const INVISIBLE = /(?![\u200c\u200d])\p{Cf}/gu

/** Text on a line of ours: one line that contains no header, because it has no brackets, and no edge of a block. */
export function headerText(text: string): string {
  return oneLine(text)
    .replace(TAG_BRACKET, '‹')
    .replace(/[[［]/g, '⟦')
    .replace(/[\]］]/g, '⟧')
}

/** A name in quotation marks that it cannot end. */
export function quotedName(text: string): string {
  return `"${headerText(text).replaceAll('"', "'")}"`
}

/** A text that cannot close the block it stands in. */
export function unbracketed(text: string): string {
  return text.replaceAll('<', '‹').replaceAll('>', '›')
}

// Written with blanks or invisible characters between the letters, a header is still read as one.
const GAP = '[\\s\\p{Cf}\\p{Cc}]*'
const spread = (words: string) => [...words].join(GAP)
const HEADERS = ['taskassignment', 'taskupdate', 'troubleshootingguideavailable', 'inbox', 'hand-inrefused', 'check-inproblem'].map(spread).join('|')
const HEADER_BRACKET = new RegExp(`[[［](?=${GAP}(?:${HEADERS})(?!\\p{L}))`, 'giu')
const TAG_BRACKET = new RegExp(`<(?=${GAP}/?${GAP}(?:${spread('subtask-result')}|${spread('content-')}))`, 'giu')

/** Data of other agents: nothing in it looks like a header of ours, or like the edge of a block. */
export function neutralised(text: string): string {
  return text.replace(TAG_BRACKET, '‹').replace(HEADER_BRACKET, '⟦')
}

const LINE_BREAK = /(\r\n|[\n\r\v\f\u0085\u2028\u2029])/
const HEADINGS = ['task context', 'background context', 'expected deliverables', 'success criteria', 'constraints', 'relevant files', 'related documentation']
  .map((words) => spread(words.replaceAll(' ', '')))
  .join('|')
const LAYOUT = new RegExp(
  `^${GAP}(?:[[［](?=${GAP}(?:${HEADERS}))|<(?=${GAP}/?${GAP}${spread('content-')})|={3}|\\p{Extended_Pictographic}\\P{L}*(?:${HEADINGS}))`,
  'iu',
)

/** Text in which a line that looks like a header, a heading or a rule of ours is quoted by `> `. All other lines are unchanged. */
export function quoteLayout(text: string): string {
  return text
    .split(LINE_BREAK)
    .map((line) => (LAYOUT.test(line) ? `> ${line}` : line))
    .join('')
}
