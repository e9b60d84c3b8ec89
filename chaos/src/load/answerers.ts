import type { GivenAnswer } from '../ledger.ts'
import { createRandom } from '../random.ts'
import type { Tenant } from '../tenants.ts'
import { askUntilAnswered, pause, type Scene } from './actor.ts'

interface QuestionList {
  items: { question_id: string }[]
}

const KNOWN_REFUSALS = ['conflict', 'invalid_transition']

/** Answers open questions, and withdraws some. Several a project, so that two answer the same question at once. Goes on until all actors stop. */
export async function runAnswerer(scene: Scene, tenant: Tenant, number: number): Promise<void> {
  const random = createRandom(scene.seed, 'answerer', tenant.name, number)
  let count = 0
  while (!scene.over.aborted) {
    await pause(random.whole(100, 700), scene.over)
    const read = await scene.client.ask<QuestionList>(scene.client.pickApi(random), { method: 'GET', path: '/questions?status=open', key: tenant.key })
    if (read.kind !== 'answered' || read.status !== 200 || read.body.items.length === 0) continue
    count += 1
    const { question_id: questionId } = random.pick(read.body.items)
    if (random.chance(0.1)) {
      await askUntilAnswered(scene, random, { path: `/questions/${questionId}/withdraw`, key: tenant.key })
      continue
    }
    const given: GivenAnswer = { questionId, nonce: `${tenant.name}-${number}-${count}`, state: 'unknown' }
    scene.ledger.answers.push(given)
    const answer = await askUntilAnswered<{ code?: string }>(scene, random, {
      path: `/questions/${questionId}/answer`,
      key: tenant.key,
      body: { answer: `chaos-answer ${given.nonce}` },
      idempotencyKey: `answer-${given.nonce}`,
    })
    if (answer === null) continue
    given.state = answer.status === 200 ? 'accepted' : 'refused'
    scene.findings.looked('an answer is refused only when the question is closed', 1)
    if (answer.status !== 200 && !KNOWN_REFUSALS.includes(answer.body.code ?? '')) {
      const what = `${questionId}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`
      scene.findings.broke('an answer is refused only when the question is closed', what)
    }
  }
}
