import { testDatabase } from '@muster/testing'
import { assignTask, createTask, readEvents, updateProject } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drainEvents } from '../../testing/api.ts'
import { checkIn, type EvaluationsApi, LINES, POOR, reflection, startEvaluationsApi } from '../../testing/evaluations.ts'

const UNKNOWN = '01990000-0000-7000-8000-000000000000'
const MIB = 1_048_576
const CRITERIA = ['Implements JWT authentication', 'Includes unit tests', 'Rate limiting', 'OAuth scope']

let own: EvaluationsApi

beforeAll(async () => {
  own = await startEvaluationsApi(await testDatabase())
})
afterAll(() => own.api.close())

const problem = (pointer: string, reason: unknown) => ({ status: 400, code: 'validation_failed', errors: [expect.objectContaining({ pointer, reason })] })
const stored = async () => (await own.send('GET', '/evaluations?limit=200')).body.items.length

describe('POST /evaluations', () => {
  describe('201', () => {
    it("scores the document's own check-in, and says what each verdict rests on", async () => {
      const output = checkIn(LINES)
      const { status, body, headers } = await own.evaluate({ output, acceptance_criteria: CRITERIA, session_id: 'writer-1' })
      expect(status).toBe(201)
      expect(headers.location).toBe(`/evaluations/${body.evaluation_id}`)
      expect(body).toEqual({
        id: body.evaluation_id,
        evaluation_id: expect.any(String),
        origin: 'request',
        task_id: null,
        subtask_id: null,
        message_id: null,
        session_id: 'writer-1',
        subagent: null,
        score: 0.6125,
        recommendation: 'review',
        criteria_revision: null,
        rule_version: 2,
        judge_of: null,
        judge: null,
        created_at: expect.any(String),
        warnings: expect.arrayContaining([
          { code: 'gate', message: expect.stringContaining('required criterion') },
          { code: 'unmet_criterion', message: expect.stringContaining('"Rate limiting"'), criterion_id: 'criterion-3' },
          { code: 'self_report_only', message: expect.any(String), criterion_id: 'criterion-1' },
        ]),
        reflection: { items: [], item_count: 0, score: null, categories: {} },
        dimensions: { correctness: 0.7, security: null, style: null, completeness: 0.35 },
        criteria: [
          ['met', 'Implements JWT authentication'],
          ['met', 'Includes unit tests'],
          ['unmet', 'Rate limiting has race condition'],
          ['unclear', 'OAuth scope needs clarification'],
        ].map(([verdict, evidence], place) => ({
          id: `criterion-${place + 1}`,
          text: CRITERIA[place],
          source: 'acceptance',
          required: true,
          verdict,
          evidence,
          method: 'check_in',
        })),
        threshold: 0.6,
        approve_at: 0.8,
        trust: 'evidence',
        review_of: null,
        full_payload: output,
      })
      expect((await own.send('GET', `/evaluations/${body.evaluation_id}`)).body).toEqual((({ full_payload: _, ...rest }) => rest)(body))
    })

    it('lists what a reflection says, with its weights', async () => {
      const { body } = await own.evaluate({ output: 'x\n<npl-reflection>\n✅ Parses\n⚠️ Slow\n📚 Documented\n🦄 Pretty\n</npl-reflection>' })
      expect(body).toMatchObject({
        score: 0.65,
        reflection: {
          items: [
            { emoji: '✅', category: 'verified', text: 'Parses', weight: 1 },
            { emoji: '⚠', category: 'pitfall', text: 'Slow', weight: -0.4 },
            { emoji: '📚', category: 'docs', text: 'Documented', weight: 0 },
            { emoji: '🦄', category: null, text: 'Pretty', weight: 0 },
          ],
          item_count: 4,
          score: 0.65,
          categories: { verified: 1, pitfall: 1, docs: 1 },
        },
      })
    })

    it.each([
      ['exactly 0.8', reflection('✅✅✅🚀🧩'), {}, 0.8, 'approve'],
      ['less', reflection('✅✅✅🚀🐛'), {}, 0.77, 'review'],
      ['exactly 0.6', reflection('✅🔄🔄'), {}, 0.6, 'review'],
      ['less', reflection('✅🔄📝'), {}, 0.5833, 'request_revision'],
      ['at a threshold', reflection('✅🔄🔄'), { threshold: 0.6 }, 0.6, 'review'],
      ['above a lower threshold', reflection('✅🔄📝'), { threshold: 0.5 }, 0.5833, 'review'],
      ['below a higher threshold', reflection('✅🔄🔄'), { threshold: 0.8 }, 0.6, 'request_revision'],
      ['good, whatever the threshold', reflection('✅'), { threshold: 0.8 }, 1, 'approve'],
      ['bad, whatever the threshold', reflection('🐛'), { threshold: 0 }, 0.1, 'review'],
      ['with a lock among nine ticks', reflection('✅✅✅✅✅✅✅✅✅🔒'), {}, 0.9, 'review'],
      ['without anything that counts', 'There are 3 files.', {}, null, 'review'],
    ])('recommends, of a score that is %s', async (_, output, more, score, recommendation) => {
      const { body } = await own.evaluate({ output, ...more })
      expect([body.score === null ? null : Number(body.score.toFixed(4)), body.recommendation]).toEqual([score, recommendation])
      expect([body.full_payload, body.summary === undefined]).toEqual(recommendation === 'request_revision' ? [undefined, false] : [output, true])
    })

    it('gives a summary in place of a poor output, which is there on request', async () => {
      const { body } = await own.evaluate({ output: POOR })
      expect(body).toMatchObject({ score: 0.55, recommendation: 'request_revision', summary: expect.stringContaining('Failing items:\n- 🐛 bug: x') })
      expect(body).not.toHaveProperty('full_payload')
      expect((await own.send('GET', `/evaluations/${body.evaluation_id}/payload`)).body).toEqual({
        full_output: POOR,
        evaluation_id: body.evaluation_id,
        subtask_id: null,
      })
    })

    it('holds it against the criteria of a task as they are now, and keeps to those', async () => {
      const taskId = await own.task({ acceptance_criteria: ['Links work', 'Pictures load'] })
      await own.send('PATCH', `/tasks/${taskId}`, { acceptance_criteria: ['Links work', 'It is short'] }, { 'if-match': '"1"' })
      const { body } = await own.evaluate({ output: checkIn(['- ✅ Links work'], ` task-id="${taskId}"`), task_id: taskId })
      expect(body).toMatchObject({
        task_id: taskId,
        criteria_revision: 2,
        criteria: [
          { text: 'Links work', verdict: 'met', method: 'check_in' },
          { text: 'It is short', verdict: 'not_addressed', evidence: null },
        ],
      })
      await own.send('PATCH', `/tasks/${taskId}`, { acceptance_criteria: ['Links work'] }, { 'if-match': '"2"' })
      expect((await own.send('GET', `/evaluations/${body.evaluation_id}`)).body).toMatchObject({ criteria_revision: 2, criteria: body.criteria })
    })

    it('takes the criteria of the request before those of the task, each once', async () => {
      const taskId = await own.task({ acceptance_criteria: ['Links work'] })
      const { body } = await own.evaluate({ output: checkIn(['- ✅ fine (criterion-2)']), task_id: taskId, acceptance_criteria: ['Short', ' Short ', 'Sweet'] })
      expect(body).toMatchObject({
        task_id: taskId,
        criteria_revision: null,
        criteria: [
          { text: 'Short', verdict: 'not_addressed' },
          { text: 'Sweet', verdict: 'met' },
        ],
      })
      expect((await own.evaluate({ output: 'x', task_id: taskId, acceptance_criteria: [] })).body.criteria).toMatchObject([{ text: 'Links work' }])
    })

    it('keeps what nobody can store, replaced', async () => {
      const raw = Buffer.concat([Buffer.from('{"output": "a\\u0000b\\ud800'), Buffer.from([0xff]), Buffer.from('"}')])
      const answer = await own.api.call('POST', '/evaluations', { key: own.key, raw })
      expect(answer).toMatchObject({ status: 201, body: { full_payload: 'a\uFFFDb\uFFFD\uFFFD' } })
    })

    it('repeats its answer for the same key, and evaluates once', async () => {
      const before = await stored()
      const body = { output: `${reflection('✅')}${'ä'.repeat(70_000)}` }
      const headers = { 'idempotency-key': 'once' }
      const [first, second] = [await own.evaluate(body, headers), await own.evaluate(body, headers)]
      expect(second.headers['idempotent-replayed']).toBe('true')
      expect(second.body).toEqual(first.body)
      expect(await stored()).toBe(before + 1)
      expect((await own.send('GET', `/evaluations/${first.body.evaluation_id}/payload`)).body.full_output).toBe(body.output)
    })

    it('announces it', async () => {
      const { body } = await own.evaluate({ output: POOR })
      await drainEvents(own.api)
      expect(await readEvents(own.api.ctx, { afterSeq: 0, subjectId: body.evaluation_id, limit: 5 })).toMatchObject([
        { type: 'evaluation.created', subject: { kind: 'evaluation' }, data: { origin: 'request', score: 0.55, recommendation: 'request_revision' } },
      ])
    })

    it('asks a model as well where the request or the project wants it', async () => {
      const judgeOf = async (judge?: unknown) => (await own.evaluate({ output: 'x', ...(judge === undefined ? {} : { judge }) })).body.judge
      const pending = { status: 'pending', evaluation_id: null, error: null, cost_usd: 0 }
      expect([await judgeOf(), await judgeOf(false)]).toEqual([null, null])
      expect(await judgeOf(true)).toEqual({ ...pending, model: null })
      expect(await judgeOf({ model: 'm' })).toEqual({ ...pending, model: 'm' })
      await updateProject(own.api.ctx, own.api.ctx.actor.projectId, { settings: { evaluation: { judge: { model: 'theirs' } } } })
      expect([await judgeOf(), await judgeOf(false)]).toEqual([{ ...pending, model: 'theirs' }, null])
      await updateProject(own.api.ctx, own.api.ctx.actor.projectId, { settings: {} })
    })

    it('goes by the settings of the project', async () => {
      await updateProject(own.api.ctx, own.api.ctx.actor.projectId, { settings: { evaluation: { approve_at: 0.6, threshold: 0.3, weights: { bug: -0.5 } } } })
      expect((await own.evaluate({ output: POOR })).body).toMatchObject({ score: 0.625, recommendation: 'approve', threshold: 0.3, approve_at: 0.6 })
      expect((await own.evaluate({ output: 'x', threshold: 0.7 })).body).toMatchObject(problem('/threshold', expect.stringContaining('0.6')))
      await updateProject(own.api.ctx, own.api.ctx.actor.projectId, { settings: {} })
    })

    it('answers 8 MiB that are written to be hard to read', async () => {
      const parts = ['<npl-block type="reflection">\n✅ a\r\n', '<npl-block type="check-in"\n', '```\n', '👨‍👩‍👧‍👦⚠️⚠\n', '- ❓ x\r']
      // Less than the limit, as JSON.
      const output = parts.join('').repeat(Math.floor((7.8 * MIB) / Buffer.byteLength(JSON.stringify(parts.join('')))))
      const { status, body } = await own.evaluate({ output, acceptance_criteria: ['a', 'x'] })
      expect(status).toBe(201)
      expect(body.full_payload === output || body.summary.length <= 4_000).toBe(true)
      expect((await own.send('GET', `/evaluations/${body.evaluation_id}/payload`)).body.full_output).toBe(output)
    })
  })

  it.each([
    [{}, '/output', 'is required'],
    [{ output: ' \n' }, '/output', 'must not be empty'],
    [{ output: 1 }, '/output', 'must be a text'],
    [{ output: 'x', acceptance_criteria: ['x'.repeat(2_001)] }, '/acceptance_criteria/0', expect.stringContaining('at most 2000')],
    [{ output: 'x', acceptance_criteria: ['  '] }, '/acceptance_criteria/0', 'must not be empty'],
    [{ output: 'x', acceptance_criteria: Array(51).fill('x') }, '/acceptance_criteria', 'must have at most 50 items'],
    [{ output: 'x', threshold: -0.1 }, '/threshold', 'must be at least 0'],
    [{ output: 'x', threshold: 1.1 }, '/threshold', 'must be at most 1'],
    [{ output: 'x', threshold: 0.81 }, '/threshold', expect.stringContaining('from 0 to 0.8')],
    [{ output: 'x', task_id: 'x' }, '/task_id', 'must be a UUID'],
    [{ output: 'x', session_id: 'a\nb' }, '/session_id', expect.stringContaining('control characters')],
    [{ output: 'x', judge: 'yes' }, '/judge', expect.any(String)],
    [{ output: 'x', judge: { model: '' } }, '/judge/model', 'must not be empty'],
  ])('400: refuses %#', async (body, pointer, reason) => {
    const before = await stored()
    expect((await own.evaluate(body)).body).toMatchObject(problem(pointer, reason))
    expect(await stored()).toBe(before)
  })

  it("403: is not for a sub-agent's own credential, nor is anything else about evaluations", async () => {
    const { id } = await createTask(own.api.ctx, { title: 'Write the guide', instructions: 'Write it.' })
    const { credential: assigned } = await assignTask(own.api.ctx, id, 'writer')
    const { body } = await own.send('POST', '/subtasks', { task: 'x', runner: 'external' })
    const running = (await own.send('POST', '/subtasks/claim', { worker_id: 'w' })).body.credential
    const { evaluation_id } = (await own.evaluate({ output: 'x', task_id: id })).body
    for (const key of [assigned, running])
      for (const [method, path, sent] of [
        ['POST', '/evaluations', { output: reflection('✅'), task_id: id }],
        ['POST', `/tasks/${id}/quality-flag`, { quality: 'excellent' }],
        ['POST', `/subtasks/${body.id}/quality-flag`, { quality: 'excellent' }],
        ['GET', '/evaluations'],
        ['GET', `/evaluations/${evaluation_id}`],
        ['GET', `/evaluations/${evaluation_id}/payload`],
        ['GET', `/tasks/${id}/payload`],
        ['GET', `/subtasks/${body.id}/payload`],
        ['GET', '/evaluations/stats'],
        ['GET', '/training/export'],
      ] as const)
        expect((await own.api.call(method, path, { key, ...(sent === undefined ? {} : { body: sent }) })).body).toMatchObject({
          status: 403,
          code: 'forbidden',
        })
    expect((await own.send('GET', `/evaluations?task_id=${id}`)).body.items).toHaveLength(1)
  })

  it('404: knows no task that there is not, nor one of another project', async () => {
    const strange = await own.api.key(['evaluations:write'], await own.api.stranger())
    const taskId = await own.task()
    for (const [key, task_id] of [
      [own.key, UNKNOWN],
      [strange, taskId],
    ])
      expect((await own.api.call('POST', '/evaluations', { key, body: { output: 'x', task_id } })).body).toMatchObject({ status: 404, code: 'not_found' })
  })

  it('413: refuses more than 8 MiB', async () => {
    expect((await own.evaluate({ output: 'x'.repeat(8 * MIB) })).body).toMatchObject({ status: 413, code: 'payload_too_large' })
  })

  it('422: takes no key for another text', async () => {
    const headers = { 'idempotency-key': 'one text' }
    await own.evaluate({ output: 'one' }, headers)
    expect((await own.evaluate({ output: 'other' }, headers)).body).toMatchObject({ status: 422, code: 'idempotency_mismatch' })
  })
})
