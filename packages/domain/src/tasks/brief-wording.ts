/**
 * How briefs are worded: whether a criterion can be checked, a constraint forbids or requires something, and instructions say what to do.
 * The rules only lead to warnings. They judge whole words, never parts: "know" is not "no". `brief-wording.corpus.json` holds texts with
 * the verdict that each should get. [EN] 5
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
    'validat(?:e|es|ed|ing)',
    'fail(?:s|ed|ing)?',
    'no',
    'none',
    'zero(?:s|es)?',
    'exactly',
    'only',
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

/** Words that carry no content of their own. */
const FILLERS = words(`
  a an the this that these those it its they them their there here i we you he she our your my me us one some any every each all both other
  another such same and or but so if then than as of in on at to for from with without by into onto about over out up off is are was were be been
  being am has have had do does did can could will would shall should may might must not no yes very really quite just also too only even still
  again more most less least much many lot lots few bit enough please asap now soon quickly properly correctly successfully well fully nicely
  somehow everywhere always never ever possible when whenever while where what who how why whatever everything anything something nothing
  everyone someone anyone nobody
`)

/** Words that praise or wish, and that two people would check with different results. */
const VAGUE = words(`
  good great nice nicer better best fine ok okay cool clean cleaner neat tidy modern elegant beautiful pretty proper appropriate suitable reasonable
  sensible acceptable adequate sufficient satisfactory fast faster quick slow simple simpler easy easier intuitive friendly user-friendly
  readable maintainable robust solid stable reliable efficient optimal optimized performant scalable flexible smooth seamless high low
  quality professional polished awesome excellent perfect perfectly improved enhanced clear clearly understandable useful helpful important careful
  done finished ready broken judgement judgment sense remaining
  happy satisfied impressed comfortable confident nicest bad worse correct right normal expected stuff thing things etc
`)

/** Verbs that fit any object. */
const GENERIC_VERBS = words(`
  fix make do work look feel seem get go improve enhance optimize optimise clean handle help try update change test check finish complete
  refactor rework deal implement add solve resolve take care want need like love enjoy know understand run behave perform function happen mind
`)

/** Nouns that fit any brief. */
const GENERIC_NOUNS = words(`
  code bug issue problem task job work error thing stuff feature app application system project program software product design performance
  quality documentation docs user people team customer result outcome solution way experience handling test year time request goal
`)

const SUBJECTIVE = new RegExp(`${WORD_BEGINS}(?:happy|satisfied|understand|know|like|love|enjoy|feel)s?${WORD_ENDS}`, 'iu')

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/))
}

const TOKEN = /[\p{L}\p{N}](?:[\p{L}\p{N}'’_./:()-]*[\p{L}\p{N}()])?/gu
/** A name rather than a word: a path, an identifier, an abbreviation, or anything with a digit. */
const NAME = /[\p{N}_./:()]|\p{Ll}\p{Lu}|^\p{Lu}{2,}$/u

interface Wording {
  /** Words with content. */
  concrete: number
  vague: number
}

function weigh(text: string): Wording {
  const wording = { concrete: 0, vague: 0 }
  for (const [token] of text.matchAll(TOKEN)) {
    const word = token.toLowerCase()
    if (NAME.test(token)) wording.concrete += 1
    else if (VAGUE.has(word)) wording.vague += 1
    else if (![FILLERS, GENERIC_VERBS, GENERIC_NOUNS].some((list) => stems(word).some((stem) => list.has(stem)))) wording.concrete += 1
  }
  return wording
}

/** A word with and without the endings of its inflections. */
function stems(word: string): string[] {
  return [
    word,
    word.replace(/s$/, ''),
    word.replace(/es$/, ''),
    word.replace(/e?d$/, ''),
    word.replace(/ed$/, 'e'),
    word.replace(/ing$/, ''),
    word.replace(/ing$/, 'e'),
  ]
}

/** Beside a word of praise, so much content is needed to tell what it means. */
const CONCRETE_BESIDE_VAGUE = 3

/** Whether a criterion can be checked: by a word such as "pass" or "zero", by a number, or by naming what can be looked at, and not by praise alone. */
export function isMeasurable(criterion: string): boolean {
  if (MEASURE.test(criterion) || QUANTITY.test(criterion)) return true
  const { concrete, vague } = weigh(criterion)
  if (vague > 0 || SUBJECTIVE.test(criterion)) return concrete >= CONCRETE_BESIDE_VAGUE
  return concrete > 0
}

/** These say anywhere in the sentence that something is forbidden or required. */
const OBLIGATION = new RegExp(
  `${WORD_BEGINS}(?:${[
    "(?:do|does)(?:\\s+not|n['’]t)",
    "must(?:n['’]t)?",
    "(?:may|should|shall|will)(?:\\s+not|n['’]t)",
    'shall',
    "can(?:\\s?not|['’]t)",
    'never',
    'requir(?:e|es|ed|ing)',
    'ha(?:s|ve) to',
    'only\\s+us(?:e|es|ed|ing)',
    '(?:is|are)\\s+(?:not\\s+)?(?:allowed|forbidden|prohibited|permitted|mandatory|out of scope|off limits|read-only)',
  ].join('|')})${WORD_ENDS}`,
  'iu',
)

/** These only at its beginning or its end: elsewhere they say nothing. */
const OPENER = new RegExp(
  `^[^\\p{L}\\p{N}]*(?:no|only|nothing|none of|without|not|always|at most|at least|up to|max(?:imum)?|min(?:imum)?)${WORD_ENDS}|${WORD_BEGINS}only[.!]?$`,
  'iu',
)

/** Verbs that constraints begin with, in the imperative. */
const IMPERATIVES = words(`
  abort accept add adhere align allow annotate answer apply ask assume attach avoid back base bind block bound build bump cache call cap check choose cite
  close comply conform commit confine confirm consider consult contain convert copy count cover create declare default defer delete deliver deny deploy depend deprecate
  describe disable discard document drop emit enable encode encrypt end enforce ensure escape escalate exclude exit export expose fail fetch finish flag follow format freeze
  generate get give guard handle hash hide honor honour ignore implement include inform inherit install isolate justify keep label leave limit link list load lock log
  maintain mark mask match measure merge mention minimize minimise mock move name notify obey obtain omit order output pass perform persist pin place plan post prefer
  preserve prevent print process produce protect prove provide publish push put quote raise read record redact refer reference refrain reject release rely remove rename replace
  reply report require reserve respect respond restrict retain retry return reuse review revert rotate round run sanitize save scope select send separate set show
  sign skip sort specify spend split start state stay stick stop store strip submit support surface tag take target test throttle time touch track treat trim
  update use validate verify wait warn watch work wrap write
`)

/** Whether a constraint says what is forbidden or required, as "Do not …", "Must …", "Use …" and "No …" do. */
export function isImperative(constraint: string): boolean {
  if (OBLIGATION.test(constraint) || OPENER.test(constraint) || COMPARED.test(constraint)) return true
  const opening =
    constraint
      .toLowerCase()
      .match(TOKEN)
      ?.find((word) => !POLITE.has(word)) ?? ''
  return IMPERATIVES.has(opening) && weigh(constraint).concrete > (GENERIC_VERBS.has(opening) ? 0 : 1)
}

const COMPARED = new RegExp(`${COMPARISON}\\s*[$€£¥]?\\s?\\d`, 'iu')
const POLITE = words('please also kindly')

/** Longer instructions say enough in any words. */
const JUDGED_LENGTH_MAX = 100

/** Whether instructions say nothing of what is to be done, as "Fix the bug" and "Make it better" do. */
export function isVague(instructions: string): boolean {
  return instructions.length <= JUDGED_LENGTH_MAX && weigh(instructions).concrete === 0
}
