/**
 * A phrase in pieces. Everything in it becomes part of exactly one token, in one pass and in linear time; what no token begins with makes the phrase
 * unreadable, so that nothing can be left out silently.
 */
export interface Token {
  /** `clock` is 9:30 or 17:45:10, `minute` :15, `date` three or two numbers with slashes, dots or hyphens between them, `mark` a sign. */
  kind: 'word' | 'number' | 'ordinal' | 'clock' | 'minute' | 'date' | 'mark' | 'unknown'
  /** In lower case. */
  text: string
  /** Of numbers and ordinals, also those written as words; else NaN. */
  value: number
  /** Where it stands in the text. */
  start: number
  end: number
}

const TOKEN = new RegExp(
  [
    /(?<date>\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}(?![\d/.:-])|\d{1,2}\/\d{1,2}(?![\d/:]))/,
    /(?<clock>\d{1,2}:\d{2}(?::\d{2})?(?![\d:]))/,
    /(?<minute>:\d{2}(?![\d:]))/,
    /(?<ordinal>\d{1,4}(?:st|nd|rd|th)(?![a-z]))/,
    /(?<number>\d+(?:\.\d+)?)/,
    /(?<meridiem>[ap]\.\s?m\b\.?)/,
    /(?<word>[a-z]+(?:['’][a-z]+)?)/,
    /(?<mark>[-,&+–/@])/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'y',
)

const NUMBER_WORDS = new Map(
  Object.entries({
    ...{ one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, ten: 10, eleven: 11, twelve: 12 },
    ...{ fifteen: 15, twenty: 20, thirty: 30, forty: 40, fifty: 50, sixty: 60, ninety: 90 },
  }),
)
/** `second` is also a unit: which of both is meant, the patterns decide. */
const ORDINAL_WORDS = new Map(
  Object.entries({ first: 1, second: 2, third: 3, fourth: 4, fifth: 5, sixth: 6, seventh: 7, eighth: 8, ninth: 9, tenth: 10, twelfth: 12, fifteenth: 15 }),
)

/** Numbers and ranks that are words. */
export const NUMERALS = [...NUMBER_WORDS.keys(), ...ORDINAL_WORDS.keys()]

/** The tokens of a text whose white space is single blanks. */
export function tokenize(text: string): Token[] {
  const lower = text.toLowerCase()
  const tokens: Token[] = []
  let position = 0
  while (position < lower.length) {
    if (lower[position] === ' ') {
      position += 1
      continue
    }
    TOKEN.lastIndex = position
    const match = TOKEN.exec(lower)
    const token = match ? toToken(match, position) : unknownToken(lower, position)
    tokens.push(token)
    position = token.end
  }
  return tokens
}

function toToken(match: RegExpExecArray, start: number): Token {
  const { date, clock, minute, ordinal, number, meridiem, word } = match.groups ?? {}
  const place = { start, end: start + match[0].length }
  if (date !== undefined) return { kind: 'date', text: date, value: Number.NaN, ...place }
  if (clock !== undefined) return { kind: 'clock', text: clock, value: Number.NaN, ...place }
  if (minute !== undefined) return { kind: 'minute', text: minute, value: Number(minute.slice(1)), ...place }
  if (ordinal !== undefined) return { kind: 'ordinal', text: ordinal, value: Number.parseInt(ordinal, 10), ...place }
  if (number !== undefined) return { kind: 'number', text: number, value: Number(number), ...place }
  if (meridiem !== undefined) return { kind: 'word', text: `${meridiem[0]}m`, value: Number.NaN, ...place }
  if (match[0] === '@') return { kind: 'word', text: 'at', value: Number.NaN, ...place }
  if (word === undefined) return { kind: 'mark', text: match[0] === '–' ? '-' : match[0], value: Number.NaN, ...place }
  const numeral = NUMBER_WORDS.get(word)
  if (numeral !== undefined) return { kind: 'number', text: word, value: numeral, ...place }
  const rank = ORDINAL_WORDS.get(word)
  if (rank !== undefined) return { kind: 'ordinal', text: word, value: rank, ...place }
  return { kind: 'word', text: word.replace('’', "'"), value: Number.NaN, ...place }
}

function unknownToken(text: string, start: number): Token {
  const blank = text.indexOf(' ', start)
  const end = blank === -1 ? text.length : blank
  return { kind: 'unknown', text: text.slice(start, end), value: Number.NaN, start, end }
}
