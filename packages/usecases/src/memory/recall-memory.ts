import { facts, memory, subtasks } from '@muster/db'
import {
  codePointLength,
  cutToCodePoints,
  type Episode,
  type Fact,
  MEMORY_SHOWN,
  type Memory,
  type MemoryKind,
  notFound,
  readMemoryQuestion,
  requireFound,
  requireScope,
} from '@muster/domain'
import { type Ctx, reading, readingMany } from '../core/ctx.ts'

export interface MemoryQuery {
  /** Words, as in a search engine; a sentence will do. */
  q: string
  kind?: MemoryKind | undefined
  agentId?: string | undefined
  limit: number
}

/**
 * Searches facts and episodes, best first, and the newest first among equals. Entries with some of the words are found only if none has all of them.
 * A subtask's own credential searches all of its project.
 */
export async function searchMemory(ctx: Ctx, { q, kind, agentId, limit }: MemoryQuery): Promise<Memory[]> {
  const { actor } = ctx
  requireScope(actor, 'memory:read')
  const ownAgent = actor.lineage === null ? actor.agentId : null
  const filter = { ...readMemoryQuestion(q), kind: kind ?? null, agentId: ownAgent ?? agentId ?? null, limit }
  return await readingMany(ctx, async (tx) => {
    const found = await memory.searchMemory(tx, filter)
    const idsOf = (wanted: MemoryKind) => found.filter((each) => each.kind === wanted).map(({ id }) => id)
    const [foundFacts, episodes] = await Promise.all([
      facts.listFacts(tx, actor.projectId, idsOf('fact')),
      memory.listEpisodes(tx, actor.projectId, idsOf('episode')),
    ])
    const shown = new Map([...foundFacts.map(showFact), ...episodes.map(showEpisode)].map((each) => [idOf(each), each]))
    // An entry that was forgotten since the search is left out.
    return found.flatMap(({ id, score }) => {
      const each = shown.get(id)
      return each === undefined ? [] : [{ ...each, score }]
    })
  })
}

type Shown = Memory extends infer Each ? (Each extends Memory ? Omit<Each, 'score'> : never) : never

const idOf = (shown: Shown) => (shown.kind === 'fact' ? shown.fact.id : shown.episode.id)

function showFact(fact: Fact): Shown {
  const [content, truncated] = cut(fact.content, MEMORY_SHOWN.content)
  return { kind: 'fact', truncated, fact: { ...fact, content } }
}

function showEpisode(episode: Episode): Shown {
  const [task, isTaskCut] = cut(episode.task, MEMORY_SHOWN.task)
  const [summary, isSummaryCut] = cut(episode.summary, MEMORY_SHOWN.summary)
  const [result, isResultCut] = cut(episode.result, MEMORY_SHOWN.result)
  const truncated = isTaskCut || isSummaryCut || isResultCut || episode.resultTruncated
  return { kind: 'episode', truncated, episode: { ...episode, task, summary, result } }
}

function cut<Text extends string | null>(text: Text, pointsMax: number): [Text, boolean] {
  if (text === null || codePointLength(text) <= pointsMax) return [text, false]
  return [cutToCodePoints(text, pointsMax) as Text, true]
}

/** @throws DomainError `not_found` */
export async function getFact(ctx: Ctx, id: string): Promise<Fact> {
  requireScope(ctx.actor, 'memory:read')
  return requireFound(await reading(ctx, (tx) => facts.findFact(tx, ctx.actor.projectId, id)), 'fact')
}

/** A finished subtask with its whole result. @throws DomainError `not_found`, also while it runs and once it is forgotten */
export async function getEpisode(ctx: Ctx, id: string): Promise<Episode> {
  requireScope(ctx.actor, 'memory:read')
  const episode = await reading(ctx, async (tx) => {
    const subtask = await subtasks.findSubtask(tx, id)
    if (subtask === null || subtask.finalOutcome === null || subtask.completedAt === null) return null
    if (await memory.isForgotten(tx, ctx.actor.projectId, subtask.id)) return null
    const { agentId, task, finalOutcome: outcome, summary, result, resultTruncated, completedAt } = subtask
    return { id: subtask.id, agentId, task, outcome, summary, result, resultTruncated, completedAt }
  })
  if (episode === null) throw notFound('episode')
  return episode
}
