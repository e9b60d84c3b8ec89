import { checkRows, type Evidence } from './check.ts'

/** Each question was closed once, each answer reached its run once, and no waiting run kept anything. */
export async function checkQuestions(evidence: Evidence): Promise<void> {
  const { admin, ledger, findings } = evidence
  const rows = await admin<{ id: string; status: string; answer: string | null }[]>`select id, status, answer ->> 'answer' as answer from questions`
  const stored = new Map(rows.map((row) => [row.id, row]))
  const isStored = ({ questionId, nonce }: { questionId: string; nonce: string }) => stored.get(questionId)?.answer === `chaos-answer ${nonce}`
  findings.none(
    'an answer that was accepted is the answer of its question, and one that was refused is not',
    ledger.answers.length,
    ledger.answers
      .filter((given) => (given.state === 'accepted' && !isStored(given)) || (given.state === 'refused' && isStored(given)))
      .map((given) => `${given.nonce} of ${given.questionId} was ${given.state}: ${JSON.stringify(stored.get(given.questionId))}`),
  )
  const questions = admin`select count(*) from questions`
  await checkRows(
    evidence,
    'no question is open when its subtask has ended',
    questions,
    admin`select q.id, q.subtask_id from questions q join subtasks s on s.id = q.subtask_id where q.status = 'open' and s.final_outcome is not null`,
  )
  await checkRows(
    evidence,
    'every question was asked and closed once in the log, as it is stored',
    questions,
    admin`
      select q.id, q.status, e.types from questions q left join (
        select data ->> 'question_id' as id, array_agg(type order by seq) as types from events where type like 'question.%' group by 1
      ) as e on e.id = q.id::text
      where e.types is distinct from array['question.asked', 'question.' || q.status]`,
  )
  await checkRows(
    evidence,
    'every answer is one update',
    admin`select count(*) from questions where status = 'answered'`,
    admin`
      select q.id, count(u.id) from questions q left join updates u on u.subtask_id = q.subtask_id and u.content like 'Answer to question ' || q.id || '%'
      where q.status = 'answered' group by q.id having count(u.id) <> 1`,
  )
  await checkRows(
    evidence,
    'a run that asked got every answer, each once',
    admin`select count(*) from subtasks where runner = 'asking' and status = 'completed'`,
    admin`
      select s.id, s.outputs -> 'answers' as got, a.given from subtasks s left join (
        select subtask_id, jsonb_agg(substring(answer ->> 'answer' from 14) order by answer ->> 'answer') as given from questions where status = 'answered' group by 1
      ) as a on a.subtask_id = s.id
      where s.runner = 'asking' and s.status = 'completed' and coalesce(a.given, '[]') is distinct from coalesce((
        select jsonb_agg(got order by 'chaos-answer ' || got) from jsonb_array_elements_text(s.outputs -> 'answers') as got
      ), '[]')`,
  )
  await checkRows(
    evidence,
    'every wait is announced, and ends with a resumption or a cancellation',
    admin`select count(*) from attempts where outcome = 'waiting'`,
    admin`
      select s.id, a.waits, e.waits as announced, e.resumed from subtasks s
        join (select subtask_id, count(*) as waits from attempts where outcome = 'waiting' group by 1) as a on a.subtask_id = s.id
        left join (
          select subject_id, count(*) filter (where type = 'subtask.waiting') as waits, count(*) filter (where type = 'subtask.resumed') as resumed
          from events where type in ('subtask.waiting', 'subtask.resumed') group by 1
        ) as e on e.subject_id = s.id
      where e.waits is distinct from a.waits or a.waits - coalesce(e.resumed, 0) not in (0, (s.status = 'cancelled')::int)`,
  )
}
