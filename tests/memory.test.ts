import { type ModelRequest, type ScriptedModels, type ScriptedTurn, startScriptedModels } from '@muster/testing/scripted-models'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'
import type { Subtask } from './harness/wire.ts'

interface Found {
  items: { kind: string; id: string; content: string | null; result: string | null; agent_id: string; source_subtask_id: string }[]
}

const FACT = 'The lighthouse of Skerryvore is 48 metres high.'

let models: ScriptedModels
let system: System
/** What the run that is under way is answered. */
let script: (request: ModelRequest) => ScriptedTurn

beforeAll(async () => {
  models = await startScriptedModels()
  models.answerBy((request) => script(request))
  system = await startSystem({
    env: { OPENAI_API_KEY: 'sk-oai-key-of-the-operator-51ce', OPENAI_BASE_URL: models.openaiUrl, BACKGROUND_MODEL: 'local-model' },
  })
})
afterAll(async () => {
  await system.close()
  await models.close()
})

/** A subtask of an agent of its own, from its beginning to its end. */
async function run(agentId: string, answers: typeof script): Promise<Subtask> {
  script = answers
  const { id } = await system.client.spawn({ task: `Do what ${agentId}s do.`, runner: 'ai', agent_id: agentId, parent_session_id: 'asker' })
  return await system.client.ended(id)
}

const search = async (q: string, more = '') => (await system.client.ok<Found>('GET', `/memory/search?q=${encodeURIComponent(q)}${more}`)).items

describe('memory', () => {
  let learner: Subtask

  it('keeps what a subtask learns, for its parent to find at once', async () => {
    learner = await run('scholar', ({ text }) =>
      text.includes('Kept as fact')
        ? { text: 'It is kept now, for whoever asks.' }
        : { toolCalls: [{ name: 'learn_fact', input: { content: FACT, tags: ['lighthouses'] } }] },
    )
    expect(learner).toMatchObject({ status: 'completed', result: 'It is kept now, for whoever asks.' })
    expect(await search('how high is the lighthouse of Skerryvore', '&kind=fact')).toMatchObject([
      { kind: 'fact', content: FACT, agent_id: 'scholar', source_subtask_id: learner.id },
    ])
  })

  it('tells the next subtask, which has only its own credential', async () => {
    const reader = await run('reader', ({ text }) =>
      text.includes(FACT)
        ? { text: 'It is 48 metres high, as a fact says.' }
        : { toolCalls: [{ name: 'recall_deep', input: { query: 'height of the Skerryvore lighthouse' } }] },
    )
    expect(reader).toMatchObject({ status: 'completed', result: 'It is 48 metres high, as a fact says.' })
  })

  it('has what came of subtasks, soon after they have ended, by the log alone', async () => {
    await until('the episode is found', async () => (await search('kept whoever asks', '&kind=episode')).length > 0)
    expect(await search('kept whoever asks', '&kind=episode')).toMatchObject([{ id: learner.id, result: 'It is kept now, for whoever asks.' }])
  })

  it('forgets when it is told to', async () => {
    const [fact] = await search('Skerryvore', '&kind=fact')
    expect((await system.client.call('DELETE', `/memory/facts/${fact?.id}`)).status).toBe(204)
    expect((await system.client.call('DELETE', `/memory/episodes/${learner.id}`)).status).toBe(204)
    expect(await search('Skerryvore', '&kind=fact')).toEqual([])
    expect((await search('kept whoever asks', '&kind=episode')).map(({ id }) => id)).not.toContain(learner.id)
    expect((await system.client.get(learner.id)).result).toBe('It is kept now, for whoever asks.')
  })
})
