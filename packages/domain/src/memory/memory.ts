import type { FinalOutcome } from '../subtasks/subtask.ts'

export const MEMORY_KINDS = ['fact', 'episode'] as const
export type MemoryKind = (typeof MEMORY_KINDS)[number]

/** A stored statement that searches can find. */
export interface Fact {
  id: string
  content: string
  tags: string[]
  agentId: string | null
  /** The subtask that it comes from. */
  sourceSubtaskId: string | null
  author: { kind: string; id: string }
  createdAt: Date
}

/** A finished subtask, as memory tells of it. Its id is the subtask's. */
export interface Episode {
  id: string
  agentId: string
  task: string
  outcome: FinalOutcome
  summary: string | null
  /** Null where it ended without one. */
  result: string | null
  resultTruncated: boolean
  completedAt: Date
}

/** What a search has found, with its texts cut to `MEMORY_SHOWN`. `score` is between 0 and 1, and comparable within one search alone. */
export type Memory = { score: number; truncated: boolean } & ({ kind: 'fact'; fact: Fact } | { kind: 'episode'; episode: Episode })

/** How many there may be, and how long, in code points. */
export const MEMORY_LIMITS = { content: 100_000, tags: 20, tag: 64, query: 1_000, found: 50 } as const

/** How much of a text a search shows, in code points. */
export const MEMORY_SHOWN = { content: 4_000, task: 1_000, summary: 1_000, result: 2_000 } as const

/** Of a long question, the longest words say most. */
const WORDS_MAX = 20

/** A question of memory, as `websearch_to_tsquery` takes it: words, phrases between quotes, `or`, `-`, and no other punctuation. */
export interface MemoryQuestion {
  /** All of it. */
  wanted: string
  /** The same word by word, for where nothing has all of it. Several words in one entry follow each other. */
  words: string[]
  /** What is not wanted: `-draft -"first try"`. */
  without: string
}

/** A word, or several between quotes, with a `-` before what is not wanted. */
const PART = /(-?)(?:"([^"]*)"?|(\S+))/g

/** What words are parted by besides blanks: as `muster_words` parts those of memory. */
const ASCII_PUNCTUATION = /[!-/:-@[-`{-~\s]+/

/** Reads a question. Any text is one; a name such as `src/parser/lexer.ts` asks for its parts, one after the other. */
export function readMemoryQuestion(text: string): MemoryQuestion {
  const wanted: string[] = []
  const without: string[] = []
  const words = new Map<string, string>()
  for (const [, minus, quoted, bare = ''] of text.matchAll(PART)) {
    const phrase = (quoted ?? bare)
      .split(ASCII_PUNCTUATION)
      .filter((word) => word !== '')
      .join(' ')
    if (phrase === '') continue
    if (quoted === undefined && minus === '' && bare.toLowerCase() === 'or') {
      wanted.push('or')
      continue
    }
    // An option of a program, `--force`, is not meant as what is not wanted.
    const isBarred = minus === '-' && !bare.startsWith('-')
    const written = `${isBarred ? '-' : ''}"${phrase}"`
    wanted.push(written)
    if (isBarred) without.push(written)
    else words.set(phrase.toLowerCase(), phrase)
  }
  const longestFirst = [...words.values()].sort((one, other) => other.length - one.length)
  return { wanted: wanted.join(' '), words: longestFirst.slice(0, WORDS_MAX), without: without.join(' ') }
}
