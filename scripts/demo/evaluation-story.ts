import { randomUUID } from 'node:crypto'
import type { Client, Evaluation } from './client.ts'
import { listen } from './hearing.ts'
import type { Narrator } from './narrator.ts'

/** Asked for a quick look, the scout reports what that leaves open. Sent back, it looks thoroughly. */
const QUICK_BRIEF = {
  title: 'A quick look at the packages',
  instructions: 'Take a quick look at packages and report what is in it.',
  acceptance_criteria: ['The largest files are listed', 'The number of test files is given', 'The lines are counted by type'],
}
const MAX_REVISIONS = 2

/**
 * A result that is not good enough: it is judged against the criteria in the commit that ends it, sent back with what it fails, and done
 * again. The session that asked receives the last revision round only.
 *
 * @returns deviations from what should happen; empty if there is none
 */
export async function playEvaluationStory(client: Client, narrator: Narrator, signal: AbortSignal): Promise<string[]> {
  narrator.title('5. A poor first attempt: T asks for it, D is the scout example, sent back once')
  const hearing = await listen(client, signal)
  const session = `demo-${randomUUID()}`
  const { id } = await client.createTask(QUICK_BRIEF)
  const first = await client.dispatch(id, { runner: 'scout', max_revisions: MAX_REVISIONS, parent_session_id: session })
  narrator.about('T', `POST /tasks/{id}/dispatch  "${QUICK_BRIEF.instructions}", at most ${MAX_REVISIONS} revisions`)

  const poor = await client.wait(first.id)
  const completed = await hearing.first('subtask.completed', first.id)
  const poorly = await client.evaluation(first.id)
  narrator.about('D', `${poor.status}: ${poor.summary ?? ''}`)
  narrator.about('T', `GET /evaluations?subtask_id  ${describe(poorly)}`)
  narrator.quote(poorly?.criteria.map(({ verdict, text, evidence }) => `${verdict}  ${evidence ?? text}`) ?? [])

  const [request] = await client.taskUpdates(id)
  narrator.about('T', `GET /tasks/{id}/updates  ${request?.update_type ?? 'none'}, ${request?.status ?? ''}:`)
  narrator.quote(
    request?.content
      .split('\n')
      .filter((line) => line !== '')
      .slice(0, 4) ?? [],
  )
  const secondId = completed?.data.revised_by
  const good = typeof secondId === 'string' ? await client.wait(secondId) : null
  const announced = await hearing.first('task.completed', id)
  narrator.about('D', `round ${good?.revision_round ?? '?'}, ${good?.status ?? 'never started'}: ${good?.summary ?? ''}`)
  const well = good === null ? undefined : await client.evaluation(good.id)
  narrator.about('T', `GET /evaluations?subtask_id  ${describe(well)}`)
  const items = await client.claimInbox(session)
  narrator.about('T', `POST /sessions/{id}/inbox/claim  ${items.length} result: score ${inShort(items[0]?.score)}, ${items[0]?.recommendation ?? '?'}`)
  await hearing.stop()

  return [
    ...(poorly?.recommendation === 'request_revision' ? [] : [`the first attempt should have been sent back, and was judged ${describe(poorly)}`]),
    ...(request?.update_type === 'revision_request' ? [] : ['the task should have an update that asks for a revision']),
    ...(good?.status === 'completed' && good.revision_round === 1 ? [] : ['there should have been a second round that completed']),
    ...(well?.recommendation === 'approve' ? [] : [`the second attempt should have been approved, and was judged ${describe(well)}`]),
    ...(announced === null ? ['the event stream never reported the completion'] : []),
    ...(items.length === 1 && items[0]?.subtask_id === good?.id
      ? []
      : [`the inbox should hold the last revision round only, and held ${items.length} results`]),
  ]
}

function describe(evaluation: Evaluation | undefined): string {
  return evaluation === undefined ? 'not at all' : `score ${inShort(evaluation.score)}, ${evaluation.recommendation}`
}

function inShort(score: number | null | undefined): string {
  return score == null ? 'none' : String(Number(score.toFixed(3)))
}
