import type { FinalOutcome } from './subtask.ts'

export const MEMORY_KINDS = ['fact', 'episode'] as const
export type MemoryKind = (typeof MEMORY_KINDS)[number]

/** Something that somebody has learnt and wants to be found again. */
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

/** What is to be found where nothing has every word that was asked for. */
export interface LooseQuery {
  /** Any of these. */
  words: string[]
  /** But nothing that has one of these, as a web search takes them: `-draft -"first try"`. */
  without: string
}

/** A word, or several between quotes, with a `-` before what is not wanted. */
const PART = /(-?)(?:"([^"]*)"?|(\S+))/g

/** Reads a question word by word. Any text is one. */
export function loosenQuery(text: string): LooseQuery {
  const words = new Map<string, string>()
  const without: string[] = []
  for (const [part, minus, quoted, bare = ''] of text.matchAll(PART)) {
    if (minus === '-') without.push(part)
    else if (quoted !== undefined || bare.toLowerCase() !== 'or') words.set((quoted ?? bare).toLowerCase(), quoted ?? bare)
  }
  const longestFirst = [...words.values()].sort((one, other) => other.length - one.length)
  return { words: longestFirst.slice(0, WORDS_MAX), without: without.join(' ') }
}
