import type postgres from 'postgres'

const VOCABULARY = 20_000
const WORDS = 30
/** How much rarer later words of the vocabulary are: `word<n>` is in about `WORDS / SKEW * (n / VOCABULARY) ** (1 / SKEW - 1) / VOCABULARY` of all episodes. */
const SKEW = 3
/** The first words that about one in so many episodes has. */
export const EVERY_NTH: Record<30 | 100, number> = { 30: nth(30), 100: nth(100) }

function nth(every: number): number {
  return Math.round(VOCABULARY * ((every * WORDS) / SKEW / VOCABULARY) ** (SKEW / (SKEW - 1)))
}

/** Puts ended subtasks there, with their words as memory indexes them. Ids and times follow each other; the words are the same in each run. */
export async function seedEpisodes(sql: postgres.Sql, projectId: string, count: number): Promise<void> {
  const PART = 100_000
  await sql`select setseed(0.5)`
  for (let first = 0; first < count; first += PART) {
    const last = Math.min(first + PART, count) - 1
    await sql`
      insert into subtasks (project_id, id, agent_id, task, priority, runner, timeout_seconds, max_attempts, budget_max_steps, notify, rank_at, status, attempt,
        final_outcome, result, created_at, started_at, attempt_started_at, completed_at)
      select ${projectId}, (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid, 'agent-' || n % 500,
        'Look at episode' || n || case when n % 5000 < 10 then ' seldom' || n % 5000 else '' end, 'normal', 'noop', 120, 2, 50, true, at, 'completed', 1, 'completed', words, at, at, at, at
      from generate_series(${first}::int, ${last}::int) as n,
        lateral (select now() - (${count}::int - n) * interval '30 days' / ${count}::int as at) as times,
        -- It names n, so that each row has words of its own.
        lateral (select string_agg('word' || floor(${VOCABULARY}::int * random() ^ ${SKEW}::int), ' ') as words from generate_series(1, ${WORDS}::int + n * 0)) as text`
  }
  await sql`
    insert into episode_words (project_id, subtask_id, agent_id, search)
    select s.project_id, s.id, s.agent_id, muster_episode_words(s.project_id, s.task, s.summary, s.result, s.result_body_id) from subtasks s where s.project_id = ${projectId}
    order by s.id`
  await sql`vacuum (analyze) subtasks, episode_words`
}
