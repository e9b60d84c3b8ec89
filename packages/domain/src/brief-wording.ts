/**
 * How briefs are worded: whether a criterion can be measured and a constraint reads like one. Only advice hangs on it, so a guess is
 * good enough, but never one by parts of words: "know" is not "no". [EN] 5
 */

const WORD_BEGINS = '(?<![\\p{L}\\p{N}_])'
const WORD_ENDS = '(?![\\p{L}\\p{N}_])'

const MEASURE = new RegExp(
  `${WORD_BEGINS}(?:${[
    'pass(?:es|ed|ing)?',
    'complet(?:e|es|ed|ing)',
    'under',
    'above',
    'equal(?:s|l?ed|l?ing)?',
    'verif(?:y|ies|ied|ying)',
    'test(?:s|ed|ing)?',
    'validat(?:e|es|ed|ing)',
    'all',
    'no',
    'zero(?:s|es)?',
  ].join('|')})${WORD_ENDS}`,
  'iu',
)

const COMPARISON = `(?:[<>≤≥=≈]|${WORD_BEGINS}(?:at least|at most|less than|fewer than|more than|no more than|below|within|up to|exactly))`
const UNIT = [
  'percent',
  'pct',
  '[µμmn]?s',
  'secs?',
  'seconds?',
  'mins?',
  'minutes?',
  'h',
  'hrs?',
  'hours?',
  'days?',
  'weeks?',
  'months?',
  'years?',
  'bits?',
  'bytes?',
  '[kmgtp]?i?b(?:ps|it)?',
  '[kmg]?hz',
  '[munc]?m',
  'km',
  'k?g',
  'px',
  'pt',
  'dpi',
  'fps',
  '[rqto]ps',
  'req(?:uests)?/s',
  'x',
  'times',
  // "30 sessions": what is counted stands in the plural.
  '(?!(?:this|its|was|has|does|plus|always)(?!\\p{L}))\\p{L}{2,}s',
].join('|')

const QUANTITY = new RegExp(
  [
    `${COMPARISON}\\s*[$€£¥]?\\s?\\d`,
    '[$€£¥]\\s?\\d',
    // Scripts that are written without spaces, or whose plurals we cannot know, have the unit right behind.
    `(?<![\\p{Script=Latin}\\p{N}_.,])\\d[\\d.,]*\\s?(?:[%‰×°]|(?:${UNIT})${WORD_ENDS}|(?!\\p{Script=Latin})\\p{L})`,
  ].join('|'),
  'iu',
)

/** Whether a criterion names something to measure it by: a word such as "pass" or "zero", or a number with its unit. */
export function isMeasurable(criterion: string): boolean {
  return MEASURE.test(criterion) || QUANTITY.test(criterion)
}

/** These say anywhere in the sentence that something is forbidden or required. */
const OBLIGATION = new RegExp(
  `${WORD_BEGINS}(?:${[
    "(?:do|does)(?:\\s+not|n['’]t)",
    "must(?:n['’]t)?",
    "should(?:\\s+not|n['’]t)",
    "can(?:\\s?not|['’]t)",
    'never',
    'requir(?:e|es|ed|ing)\\s+to',
    'only\\s+us(?:e|es|ed|ing)',
  ].join('|')})${WORD_ENDS}`,
  'iu',
)

/** These only at its beginning: elsewhere they say nothing. */
const OPENER = new RegExp(`^[^\\p{L}\\p{N}]*(?:no|only)${WORD_ENDS}`, 'iu')

/** Whether a constraint says what is forbidden or required, as "Do not …", "Must …" and "No …" do. */
export function isImperative(constraint: string): boolean {
  return OBLIGATION.test(constraint) || OPENER.test(constraint)
}
