import { cutToCodePoints } from '../core/text.ts'

/**
 * The words with which a line takes back its own ✅, by language. Each is a word or a phrase of up to `PHRASE_WORDS_MAX` words, in lower case,
 * separated by commas. They are words that agents use for work that is not done; where a word is as common in praise, it is not among them.
 */
interface Denials {
  /** Words that turn around what is near them. */
  not: string
  /** Words that say by themselves that something was not done. "No test was skipped" is no denial. */
  undone: string
  /** Words that deny only if they stand alone between punctuation: "rate limiting: no", "pagination (pending)". */
  alone?: string
  /** Words that make a following word of `undone` harmless, and that deny what the criterion names: "no tests were written". */
  none?: string
}

const DENIALS: Record<string, Denials> = {
  en: {
    not: 'not, didnt, wasnt, isnt, couldnt, cannot do, cannot be done, cannot be verified, cannot be tested, cannot be checked, cannot test, cannot verify, cannot check, cannot implement, cannot complete, cannot finish, cannot tell, cannot say, unable, failed to, fails to, no time, did nothing, no longer works',
    undone:
      'skipped, skipping, todo, to-do, to be done, will be done, undone, unfinished, untested, unimplemented, unresolved, unverified, omitted, deferred, postponed, left out, left open, left for later, still open, still pending, still missing, still failing, still fails, is pending, is failing, are failing, partially done, partly done, partially implemented, tbd, wip, stubbed, gave up, out of scope',
    alone:
      'no, n a, impossible, incomplete, placeholder, pending, failed, failing, fails, missing, blocked, open, partial, partially, partly, later, almost, nearly',
    none: 'no, none, nothing, zero, 0, without, not one, not a single, 404 not found',
  },
  de: {
    not: 'nicht, noch kein, noch keine, noch keinen, keine zeit, unmöglich',
    undone:
      'übersprungen, ausgelassen, weggelassen, unfertig, unvollständig, ungetestet, ungeprüft, verschoben, zurückgestellt, aufgeschoben, noch offen, bleibt offen, fehlt, fehlt noch, fehlen noch, fehlgeschlagen, gescheitert, später',
    alone: 'nein, kein, keine, offen, teilweise',
    none: 'kein, keine, keinen, keiner, nichts, ohne, null',
  },
  fr: {
    not: 'pas, impossible, incapable, aucun temps',
    undone:
      'non fait, non faite, non testé, non testée, non implémenté, non terminé, sauté, ignoré, omis, omise, incomplet, incomplète, inachevé, inachevée, à faire, reporté, reportée, remis à plus tard, a échoué, en attente',
    alone: 'non, partiel, partiellement, échec, plus tard',
    none: 'aucun, aucune, sans, rien, zéro, pas de, pas d',
  },
  es: {
    not: 'no se, no está, no están, no fue, no fueron, no pude, no pudo, no he, no ha, no hecho, no hecha, no probado, no probada, no implementado, no implementada, no terminado, no funciona, sin hacer, sin probar, sin terminar, imposible, tampoco, todavía no, aún no',
    undone: 'omitido, omitida, saltado, pendiente, incompleto, incompleta, aplazado, pospuesto, por hacer, falta, faltan, ha fallado',
    alone: 'no, parcial, parcialmente, luego',
    none: 'ningún, ninguna, nada, cero, sin, no hay, no existen',
  },
  pt: {
    not: 'não, impossível, sem tempo',
    undone: 'pulado, omitido, omitida, pendente, incompleto, incompleta, adiado, adiada, por fazer, falta, faltam, inacabado, falhou',
    alone: 'parcial, parcialmente, depois',
    none: 'nenhum, nenhuma, nada, zero, sem, não há',
  },
  it: {
    not: 'non, impossibile',
    undone: 'saltato, saltata, omesso, omessa, incompleto, incompleta, rimandato, rinviato, da fare, in sospeso, manca, mancano, fallito',
    alone: 'no, parziale, parzialmente',
    none: 'nessun, nessuno, nessuna, niente, zero, senza, non ci sono',
  },
  nl: {
    not: 'niet, nog geen, onmogelijk',
    undone: 'overgeslagen, weggelaten, onvolledig, onvoltooid, ongetest, uitgesteld, nog open, ontbreekt, ontbreken, mislukt',
    alone: 'nee, gedeeltelijk, deels',
    none: 'geen, niets, zonder, nul',
  },
  pl: {
    not: 'nie, niemożliwe',
    undone: 'pominięto, pominięte, pominięty, niezrobione, niedokończone, niekompletne, nieprzetestowane, odłożone, do zrobienia, brakuje',
    alone: 'częściowo',
    none: 'żaden, żadna, żadne, brak, bez, zero',
  },
  nordic: {
    not: 'inte, ikke, ikkje, ej, omöjligt, umulig, umuligt, ei ole, en voinut',
    undone:
      'hoppades över, överhoppad, ofullständig, otestad, uppskjuten, återstår, saknas, hoppet over, utelatt, utsatt, mangler, ufullstendig, sprunget over, ufuldstændig, udskudt, tekemättä, puuttuu',
    alone: 'nej, nei, delvis, delvist',
    none: 'inga, inget, ingen, utan, intet, uden, uten',
  },
  cs: { not: 'není, nebylo, nelze', undone: 'nehotovo, nedokončeno, přeskočeno, vynecháno, odloženo, chybí, neotestováno', alone: 'částečně' },
  ru: {
    not: 'не, невозможно, нельзя',
    undone: 'пропущено, пропущен, пропущена, пропущены, отложено, отложен, недоделано, незавершено, осталось, отсутствует, не хватает',
    alone: 'нет, частично, позже',
    none: 'ни один, ни одного, ничего, без, нет',
  },
  uk: {
    not: 'не, неможливо',
    undone: 'пропущено, відкладено, незавершено, залишилось, відсутнє, бракує',
    alone: 'ні, частково, пізніше',
    none: 'жоден, жодного, без, немає',
  },
  tr: {
    not: 'değil, olmadı, yapılmadı, yapmadım, edilmedi, yapılamadı, yapamadım, imkansız',
    undone: 'atlandı, ertelendi, eksik, tamamlanmadı, bitmedi, test edilmedi, yapılacak',
    alone: 'hayır, yok, kısmen',
  },
  ar: { not: 'لم, ليس, ليست, لا يمكن, غير, لن', undone: 'تخطي, تم تخطي, مؤجل, ناقص, تعذر, فشل', alone: 'لا, جزئيا' },
  hi: { not: 'नहीं, असंभव', undone: 'छोड़ दिया, अधूरा, बाकी है, लंबित', alone: 'ना, आंशिक' },
  vi: { not: 'không, chưa, không thể', undone: 'bỏ qua, còn thiếu, hoãn lại, chưa xong' },
  id: { not: 'tidak, belum, bukan', undone: 'dilewati, ditunda, tertunda, belum selesai, gagal' },
}

/** The same for scripts that put no space between words. */
const UNSPACED =
  /未(?!来|來|发现|發現|登录|登錄|授权|授權)|没(?:有|能)(?!错误|问题|失败|跳过|遗漏|回归)|沒有(?!錯誤|問題|失敗|跳過|遺漏|回歸)|沒能|不能|无法|無法|尚不|跳过|跳過|省略|略过|略過|待办|待辦|待定|暂缓|推迟|放弃|でき(?:ない|ません|なかった|ず)|し(?:ていない|ていません|なかった|ません)|スキップ|見送|後回し|안 (?:함|했)|않았|못 ?했|하지 (?:못|않)|할 수 없|미완료|미구현|미완성|건너뛰|건너뜀|생략|보류|ไม่ได้|ยังไม่|ไม่สามารถ|ข้ามไป/gu

const PHRASE_WORDS_MAX = 4

function wordsOf(list: string): ReadonlySet<string> {
  return new Set(list.split(' '))
}

type Kind = keyof Denials
const PHRASES = phrasesOf(DENIALS)

function phrasesOf(denials: Record<string, Denials>): ReadonlyMap<string, ReadonlySet<Kind>> {
  const phrases = new Map<string, Set<Kind>>()
  for (const { not, undone, alone = '', none = '' } of Object.values(denials)) {
    for (const [kind, list] of Object.entries({ not, undone, alone, none }) as [Kind, string][]) {
      for (const phrase of list.split(', ')) if (phrase !== '') phrases.set(phrase, (phrases.get(phrase) ?? new Set()).add(kind))
    }
  }
  return phrases
}

/** What follows "not" where that denies nothing: "not only", "not more than 100", "a NOT NULL column", "404 not found". */
const HARMLESS_AFTER_NOT = new Set([
  ...['only', 'just', 'merely', 'more', 'less', 'null', 'empty', 'flaky', 'change', 'changed', 'break', 'affect', 'affected', 'block', 'leak', 'log', 'logged'],
  ...['store', 'stored', 'expose', 'exposed', 'depend', 'contain', 'exceed', 'accept', 'accepted', 'allow', 'allowed', 'permitted', 'visible', 'accessible'],
  ...['nur', 'seulement', 'solo', 'só', 'alleen', 'bara', 'bare'],
])

/**
 * What may stand between "no" and what there is none of, and what may follow in a sentence that says just that: "no unit tests were written
 * yet". With any other word it is about something else: "no tests fail", "without tests the old parser broke".
 */
const BESIDE_NONE = wordsOf(
  'of the a an any new such real actual proper automated single one der die das den dem des de del la le les los las el di i o os as dei delle degli of het av',
)
const AFTER_NONE = wordsOf(
  'is are was were be been being has have had do does did can could exist exists existed there here yet now so far at all i we it written wrote added add ' +
    'made present found implemented created included available provided done run ran executed in place of the a ' +
    'ist sind war waren wurde wurden worden gibt es noch bisher da vorhanden geschrieben erstellt hinzugefügt gefunden umgesetzt implementiert ausgeführt ' +
    'a ont été est sont écrit écrits écrite écrites ajouté ajoutés existe existent encore ' +
    'hay han sido fue fueron está están escrito escritas escritos añadido añadidas existen todavía aún ' +
    'há foi foram escrito escritos ainda existem ci sono è stato stati scritto scritti zijn is er geschreven toegevoegd nog',
)
/** What it is good to have none of, whether or not the criterion names it. */
const PROBLEM =
  /^(?:errors?|warnings?|failures?|bugs?|issues?|problems?|regressions?|leaks?|conflicts?|vulnerabilit(?:y|ies)|duplicates?|duplication|crash(?:es)?|todos?|exceptions?|defects?|gaps?|fehlern?|warnungen|probleme|mängel|lücken|erreurs?|avertissements?|problèmes?|errore[si]?s?|avisos?|problemas?|problemi|erros?|fouten|fejl|fel)$/
/** A criterion with one of these asks for something to be absent. */
const ASKS_FOR_NONE =
  /^(?:remov|delet|drop|avoid|prevent|ban|eliminat|forbid|reject|free|strip|replac|instead|reduc|disabl|block|entfern|lösch|vermeid|verhinder|ersetz|statt|supprim|évit|elimin|quit|evit|rimuov|rimoss|verwijder)/

/** How far before a word of `undone` its "no" may stand: "no single test was skipped". */
const NONE_DISTANCE_MAX = 4

/** A longer line is cut: what is written about a criterion has a few hundred characters. */
const READ_LENGTH_MAX = 4_000

/**
 * Whether the words of a line with ✅ take that back: "✅ NOT done, skipped". Words that the criterion itself has are no denial: to
 * "Does not leak memory", the line "✅ does not leak memory" is a plain yes.
 *
 * @param line without its emoji and without the id of the criterion
 */
export function deniesItself(line: string, criterion: string): boolean {
  const read = cutToCodePoints(line, READ_LENGTH_MAX)
  const clauses = clausesOf(criterion)
  const asked = { text: ` ${clauses.flat().join(' ')} `, clauses: new Set(clauses.map((words) => words.join(' '))), things: thingsIn(clauses) }
  return clausesOf(read).some((words) => clauseDenies(words, asked)) || unspacedDenies(read, criterion)
}

/** The words of a criterion, and each of its clauses. */
interface Asked {
  text: string
  clauses: ReadonlySet<string>
  /** The words of what there should be; empty where something should be absent. */
  things: ReadonlySet<string>
}

function clauseDenies(words: readonly string[], asked: Asked): boolean {
  if (asked.clauses.has(words.join(' '))) return false
  for (let at = 0; at < words.length; at += 1) {
    const { length, kinds } = phraseAt(words, at)
    if (kinds.size === 0) continue
    if (kinds.has('alone') && length === words.length) return true
    if (kinds.has('none') && deniesAsked(words, at + length, asked)) return true
    const isNot = kinds.has('not')
    const next = words[at + length] ?? ''
    if ((isNot || kinds.has('undone')) && !isAsked(words, at, length, { text: asked.text, isNot })) {
      if (isNot && !HARMLESS_AFTER_NOT.has(next)) {
        // "Not skipped" says that it was done.
        const after = phraseAt(words, at + length)
        if (length > 1 || !after.kinds.has('undone')) return true
        at += after.length
      } else if (!isNot && !isNoneBefore(words, at)) return true
    }
    at += length - 1
  }
  return false
}

const NO_PHRASE = { length: 1, kinds: new Set<Kind>() }

/** The longest phrase of the table that begins with a word. */
function phraseAt(words: readonly string[], at: number): { length: number; kinds: ReadonlySet<Kind> } {
  for (let length = Math.min(PHRASE_WORDS_MAX, words.length - at); length > 0; length -= 1) {
    const kinds = PHRASES.get(words.slice(at, at + length).join(' '))
    if (kinds !== undefined) return { length, kinds }
  }
  return NO_PHRASE
}

const AUXILIARIES = new Set('is are was were be been does do did has have had must should shall will would can could may might'.split(' '))

/** Whether the criterion has the phrase together with the word after it, or with the one before; "is" and the like stand before any "not". */
function isAsked(words: readonly string[], at: number, length: number, { text, isNot }: { text: string; isNot: boolean }): boolean {
  const has = (from: number, to: number) => from >= 0 && to <= words.length && text.includes(` ${words.slice(from, to).join(' ')} `)
  return has(at, at + length + 1) || (!(isNot && AUXILIARIES.has(words[at - 1] ?? '')) && has(at - 1, at + length))
}

const THING_LENGTH_MIN = 3

function thingsIn(clauses: readonly (readonly string[])[]): ReadonlySet<string> {
  const things = new Set<string>()
  for (const words of clauses) {
    for (let at = 0; at < words.length; at += 1) {
      const { kinds } = phraseAt(words, at)
      if (kinds.has('none') || kinds.has('not') || ASKS_FOR_NONE.test(words[at] ?? '')) return new Set()
      for (const part of (words[at] as string).split('-'))
        if (part.length >= THING_LENGTH_MIN && !AFTER_NONE.has(part) && !BESIDE_NONE.has(part) && !PROBLEM.test(part)) things.add(stemOf(part))
    }
  }
  return things
}

/** One form for "test", "tests" and "testing". */
function stemOf(word: string): string {
  return word.length > THING_LENGTH_MIN + 1 ? word.replace(/(?:ing|ed|es|en|s|e|n)$/, '') : word.replace(/s$/, '')
}

/** Whether "no" at the words before is about what the criterion asks for, and the clause says no more than that. */
function deniesAsked(words: readonly string[], from: number, { things }: Asked): boolean {
  let at = from
  while (BESIDE_NONE.has(words[at] ?? '')) at += 1
  const first = at
  while (at < words.length && isThing(words[at] as string, things)) at += 1
  return at > first && words.slice(at).every((word) => AFTER_NONE.has(word))
}

function isThing(word: string, things: ReadonlySet<string>): boolean {
  return word.split('-').every((part) => things.has(stemOf(part)))
}

function isNoneBefore(words: readonly string[], at: number): boolean {
  for (let before = Math.max(0, at - NONE_DISTANCE_MAX); before < at; before += 1) {
    const { length, kinds } = phraseAt(words, before)
    if (kinds.has('none') && before + length <= at) return true
  }
  return false
}

function unspacedDenies(line: string, criterion: string): boolean {
  const asked = criterion.normalize('NFKC')
  for (const [found] of line.normalize('NFKC').matchAll(UNSPACED)) if (!asked.includes(found)) return true
  return false
}

// A hyphen joins words: "non-empty" has no "non".
const WORD = /[\p{L}\p{N}\p{M}]+(?:-[\p{L}\p{N}\p{M}]+)*/gu
const BETWEEN_CLAUSES = /[,;:!?()[\]{}"“”«»…–—|•·]|\.(?=\s|$)|\n|\s-\s/u

/** The words of each clause, in lower case, with "not" for "n’t". */
function clausesOf(text: string): string[][] {
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    // Invisible characters inside of words.
    .replace(/\p{Cf}/gu, '')
    .replace(/[’ʼ`]/g, "'")
    .replace(/\bcan't\b|\bcan not\b/g, 'cannot')
    .replace(/\bwon't\b/g, 'will not')
    .replace(/n't\b/g, ' not')
  return plain.split(BETWEEN_CLAUSES).flatMap((clause) => {
    const words = clause.match(WORD)
    return words === null ? [] : [words]
  })
}
