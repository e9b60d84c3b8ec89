import { type BlockItem, type EmojiCategory, findBlocks, linesOf, type NplBlock, readItem } from '../core/npl-blocks.ts'
import { cutToCodePoints } from '../core/text.ts'

/** What each item adds, from −1 to 1. 📚 docs is none of them: it is listed, and weighs nothing. [D2] EMOJI_WEIGHTS */
export const DEFAULT_WEIGHTS = {
  verified: 1,
  bug: -0.8,
  security: -1,
  pitfall: -0.4,
  edge_case: -0.5,
  todo: -0.3,
  improvement: 0.5,
  refactor: -0.2,
  question: -0.3,
} as const satisfies Partial<Record<EmojiCategory, number>>

export type WeightedCategory = keyof typeof DEFAULT_WEIGHTS
export type Weights = Readonly<Record<WeightedCategory, number>>

export const WEIGHTED_CATEGORIES = Object.keys(DEFAULT_WEIGHTS) as WeightedCategory[]

export type CategoryCounts = Partial<Record<EmojiCategory, number>>

/** One line of a reflection that begins with an emoji. */
export interface ReflectionItem {
  emoji: string
  /** Null for an emoji that means nothing here. */
  category: EmojiCategory | null
  /** At most `ITEM_LENGTH_MAX` characters of it. */
  text: string
  /** 0: it does not count. */
  weight: number
}

/** What an agent says of its own work, in all reflections of a text together. [D2] ParsedReflection */
export interface Reflection {
  /** In order. Of a text with too many, the first of those that weigh against it and the first of the others. */
  items: ReflectionItem[]
  /** How many there are, with those that are left out of `items`. */
  itemCount: number
  /** From 0 to 1; null where nothing counts. */
  score: number | null
  /** Of all items. */
  categories: CategoryCounts
}

/** An evaluation is stored and sent around, and a text may have millions of items. */
const ITEMS_KEPT_EACH_MAX = 200
const ITEM_LENGTH_MAX = 500

/** Reads all reflections of a text. Takes time in proportion to the text, and never throws. */
export function parseReflection(text: string, weights: Weights = DEFAULT_WEIGHTS): Reflection {
  return readReflection(findBlocks(text), weights)
}

/** The same, of blocks that are found already; those of other kinds are left out. */
export function readReflection(blocks: readonly NplBlock[], weights: Weights): Reflection {
  const items: ReflectionItem[] = []
  const categories: CategoryCounts = {}
  const kept = { against: 0, other: 0 }
  let itemCount = 0
  for (const block of blocks) {
    if (block.kind !== 'reflection') continue
    for (const line of linesOf(block.text)) {
      const { emoji, category, text } = readItem(line)
      if (emoji === null) continue
      itemCount += 1
      if (category !== null) categories[category] = (categories[category] ?? 0) + 1
      const weight = weightOf(category, weights)
      const side = weight < 0 ? 'against' : 'other'
      if (kept[side] === ITEMS_KEPT_EACH_MAX) continue
      kept[side] += 1
      items.push({ emoji, category, text: cutToCodePoints(text, ITEM_LENGTH_MAX - 1), weight })
    }
  }
  return { items, itemCount, score: scoreOfMarks(marksOfItems(categories, weights)), categories }
}

export function weightOf(category: BlockItem['category'], weights: Weights): number {
  return category === null || category === 'docs' ? 0 : weights[category]
}

const PRECISION = 1e9

/** What counts in a score: so many items of a category, each of which weighs so much. */
export interface Mark {
  category: WeightedCategory
  weight: number
  count: number
}

/**
 * [D2]'s formula with the bounds ±1 an item, the only ones with which it stays between 0 and 1: half of one more than the average weight.
 * Where there is no mark, there is no score.
 */
export function scoreOfMarks(marks: readonly Mark[]): number | null {
  let sum = 0
  let total = 0
  for (const { weight, count } of marks) {
    sum += weight * count
    total += count
  }
  // Rounded, because what is exactly on a boundary by the rule must not fall off it by an error of floating point.
  return total === 0 ? null : Math.round(((sum / total + 1) / 2) * PRECISION) / PRECISION
}

/** Items as marks. What weighs 0 does not count. */
export function marksOfItems(counts: CategoryCounts, weights: Weights): Mark[] {
  return WEIGHTED_CATEGORIES.flatMap((category) => {
    const weight = weights[category]
    return weight === 0 ? [] : [{ category, weight, count: counts[category] ?? 0 }]
  })
}
