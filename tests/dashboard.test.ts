import { randomBytes } from 'node:crypto'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openPage, settled } from './harness/browser.ts'
import { type Dashboard, openDashboard } from './harness/dashboard.ts'
import { fillHostile, readScreen } from './harness/hostile.ts'
import { type OwnPostgres, startOwnPostgres } from './harness/own-postgres.ts'
import { startReceiver } from './harness/receiver.ts'
import { type System, startSystem } from './harness/system.ts'

let dashboard: Dashboard
let browser: Browser
let system: System
let page: Page
let errors: string[]

const open = (path: string) => dashboard.open(path)
const heading = (name: string) => dashboard.heading(name)
const seen = (text: string | RegExp) => page.getByText(text).first().waitFor()
/** Starts a subtask with the form of the page. Leaves its screen open. */
async function spawn(task: string, runner: string, more: { metadata?: unknown; session?: string; attempts?: number } = {}, shown = page): Promise<string> {
  await shown.getByRole('link', { name: 'New subtask' }).first().click()
  await shown.getByLabel('Instructions').fill(task)
  await shown.getByLabel('Runner').selectOption(runner)
  await shown.getByText('More', { exact: true }).click()
  if (more.session !== undefined) await shown.getByLabel('Parent session').fill(more.session)
  if (more.attempts !== undefined) await shown.getByLabel('Failed attempts, at most').fill(String(more.attempts))
  if (more.metadata !== undefined) await shown.getByLabel('Metadata, as a JSON object').fill(JSON.stringify(more.metadata))
  await shown.getByRole('button', { name: 'Start subtask' }).click()
  await shown.waitForURL(/subtasks\/[0-9a-f-]{36}/)
  return /[0-9a-f-]{36}/.exec(shown.url())?.[0] ?? ''
}
const focused = () => page.evaluate('document.activeElement.localName')

beforeAll(async () => {
  dashboard = await openDashboard({
    SUBTASK_MAX_CONCURRENT: '10',
    SUBTASK_WORKERS: '10',
    SUBTASK_LEASE_SECONDS: '2',
    OUTBOUND_ALLOW: '127.0.0.1',
    SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}`,
  })
  ;({ browser, system, page, errors } = dashboard)
})
afterEach(() => {
  expect(errors.splice(0)).toEqual([])
})
afterAll(() => dashboard?.close())

describe('through the page alone', () => {
  it('a subtask is started, appears, is steered with a receipt, and shows its result, without a reload', async () => {
    await open('/')
    await heading('Now')
    const id = await spawn('Hold until a page has seen it.', 'hold')
    await page.getByRole('navigation').getByRole('link', { name: 'Now' }).click()
    await page.getByRole('region', { name: 'By agent' }).getByText('1 of 10 running').waitFor()
    await page.getByRole('link', { name: 'Hold until a page has seen it.' }).first().click()
    await page.getByLabel('Say something to this run').fill('Look at the tests too.')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('delivered').or(page.getByText('acknowledged')).first().waitFor()
    system.ledger.release(id)
    const output = page.getByRole('region', { name: 'Output' })
    await output.getByText(/Held in attempt 1/).waitFor()
    expect(await output.textContent()).toContain('Look at the tests too.')
    await page.getByText('completed').first().waitFor()
    await page.getByRole('tab', { name: 'Timeline' }).click()
    await seen('subtask.completed')
    await page.getByRole('tab', { name: 'Brief' }).click()
    await page
      .getByRole('region', { name: 'Sent in attempt 1' })
      .getByText(/Hold until a page has seen it\./)
      .waitFor()
    await page.getByRole('tab', { name: 'Updates' }).click()
    await page.getByRole('region', { name: 'Receipts' }).getByText('Look at the tests too.').waitFor()
  })

  it('a subtask that is refused keeps what was typed, and says why', async () => {
    await open('/subtasks/new')
    await page.getByLabel('Instructions').fill('Never started.')
    await page.getByText('More', { exact: true }).click()
    await page.getByLabel('Metadata, as a JSON object').fill('[1]')
    await page.getByRole('button', { name: 'Start subtask' }).click()
    await page.getByRole('alert').getByText('The metadata must be a JSON object.').waitFor()
    await page.getByLabel('Metadata, as a JSON object').fill('')
    await page.getByLabel('Seconds for one attempt, at most').fill('999999')
    await page.getByRole('button', { name: 'Start subtask' }).click()
    await page
      .getByRole('alert')
      .getByText(/timeout_seconds/)
      .waitFor()
    await page.reload()
    expect(await page.getByLabel('Instructions').inputValue()).toBe('Never started.')
    await page.getByLabel('Instructions').fill('')
  })

  it('an address leads to a step, and a run that ended is tried again as a new one', async () => {
    const step = (seq: number) => ({ line: JSON.stringify({ type: 'step', kind: 'message', content: `Step number ${seq}.` }) })
    const acts = [...Array.from({ length: 48 }, (_, index) => step(index + 1)), { result: 'Walked.' }]
    await open('/subtasks')
    const id = await spawn('Walk 48 steps.', 'act', { metadata: { acts } })
    await page.getByRole('region', { name: 'Output' }).getByText('Walked.').waitFor()
    await open(`/subtasks/${id}?tab=transcript&step=40`)
    await page.getByRole('article', { name: 'Message 40', exact: true }).getByText('Step number 40.').waitFor()
    await page.getByRole('button', { name: 'Retry as new' }).click()
    await page.waitForURL((url) => !url.href.includes(id))
    await seen('Walked.')
  })

  it('a run of a sub-agent that ended is gone on from, by the same runner, which is told what came before', async () => {
    await system.client.ok('PUT', '/subagents/gardener', {
      rawBody: '---\ndescription: Gardens\n---\n\nYou garden.',
      headers: { 'content-type': 'text/markdown' },
    })
    const { subtask_id: first } = await system.client.ok<{ subtask_id: string }>('POST', '/subagents/gardener/spawn', {
      body: { prompt: 'Count the beds.', description: 'Count', runner: 'act-as', wait_seconds: 30 },
    })
    await open(`/subtasks/${first}`)
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByLabel('What to do now').fill('Count the trees.')
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click()
    await page.waitForURL((url) => /subtasks\/[0-9a-f-]{36}/.test(url.href) && !url.href.includes(first))
    const id = /[0-9a-f-]{36}/.exec(page.url())?.[0] ?? ''
    expect(await system.client.ended(id)).toMatchObject({ status: 'completed', runner: 'act-as', subagent: { name: 'gardener' }, resume_of: first })
    const start = system.ledger.find(id, 'start')
    expect(String(start?.text)).toMatch(/Count the beds\.[\s\S]*Count the trees\./)

    await system.admin`update subtasks set runner = 'retired' where id = ${id}`
    await open(`/subtasks/${id}`)
    await page.getByRole('button', { name: 'Resume' }).click()
    await seen(/The runner retired does not exist any more/)
    await page.getByLabel('What to do now').fill('Count the bees.')
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click()
    await page.waitForURL((url) => /subtasks\/[0-9a-f-]{36}/.test(url.href) && !url.href.includes(id))
    const next = /[0-9a-f-]{36}/.exec(page.url())?.[0] ?? ''
    expect(await system.client.ended(next)).toMatchObject({ status: 'completed', runner: 'act-as', resume_of: id })
  })

  it('words find subtasks, and those that are chosen are cancelled after a question, each with its answer', async () => {
    await open('/subtasks')
    await spawn('Polish the zinc lantern.', 'hold')
    await open('/subtasks')
    await spawn('Polish the zinc kettle.', 'hold')
    await page.getByRole('navigation').getByRole('link', { name: 'Subtasks' }).click()
    await page.getByLabel('Words').fill('zinc')
    await page.keyboard.press('Enter')
    await page.getByLabel('Choose Polish the zinc lantern.').check()
    await page.getByLabel('Choose Polish the zinc kettle.').check()
    await page.getByRole('button', { name: 'Cancel 2 …' }).click()
    await page.getByRole('button', { name: 'Cancel all of them' }).click()
    const answers = page.getByRole('list', { name: 'Chosen subtasks' }).getByRole('listitem')
    await expect
      .poll(() => answers.allTextContents(), { timeout: 10_000 })
      .toEqual([expect.stringMatching(/cancelled|asked to stop/), expect.stringMatching(/cancelled|asked to stop/)])
    await page.getByRole('button', { name: 'Done' }).click()
    await expect.poll(() => page.locator('.list-row').getByText('cancelled').count()).toBe(2)
  })

  it('a brief is written with warnings as it is typed, assigned, changed, and shows who received what', async () => {
    await open('/tasks/new')
    await page.getByLabel('Title').fill('Add a login')
    await page.getByLabel('Instructions').fill('Fix the bug.')
    await seen(/Instructions are vague/)
    await page.getByLabel('Instructions').fill('Add a login form.')
    await page.getByLabel('Acceptance criteria, one a line').fill('All tests pass\nThe form is documented')
    await page.getByLabel('Required outputs, one name a line').fill('summary')
    await page.getByRole('button', { name: 'Create task' }).click()
    await heading('Add a login')
    await page.getByRole('button', { name: 'Assign' }).click()
    await page.getByRole('dialog').getByLabel('Session').fill('assignee-1')
    await page.getByRole('dialog').getByRole('button', { name: 'Assign' }).click()
    await seen(/^mst_asg_/)
    await page.getByRole('button', { name: 'Close' }).click()
    await system.client.ok('POST', '/sessions/assignee-1/injections', { body: {} })
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Instructions').fill('Add a login form, and a way out.')
    await page.getByRole('button', { name: 'Save as a new revision' }).click()
    await page.getByRole('cell', { name: 'queued' }).waitFor()
    await system.client.ok('POST', '/sessions/assignee-1/injections', { body: {} })
    await page.getByRole('cell', { name: 'delivered' }).waitFor()
    await page.getByRole('tab', { name: 'Revisions' }).click()
    await page.locator('ins', { hasText: 'way out' }).waitFor()
  })

  it('a brief that another person has changed meanwhile is not reverted: the change is shown, and what was typed is kept', async () => {
    const { id } = await system.client.ok<{ id: string }>('POST', '/tasks', { body: { title: 'Mend the gate', instructions: 'Oil it.' } })
    await open(`/tasks/${id}`)
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Title').fill('Mend the green gate')
    await system.client.ok('PATCH', `/tasks/${id}`, { body: { instructions: 'Oil it twice.' }, headers: { 'if-match': '"1"' } })
    await page.getByRole('alert').getByText('The brief has changed since.').waitFor()
    await page.locator('ins', { hasText: 'twice' }).waitFor()
    expect(await page.getByRole('button', { name: 'Save as a new revision' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Go on with revision 2' }).click()
    await page.getByRole('button', { name: 'Save as a new revision' }).click()
    await page.getByRole('heading', { name: 'Brief, revision 3' }).waitFor()
    expect(await system.client.ok('GET', `/tasks/${id}`)).toMatchObject({ title: 'Mend the green gate', instructions: 'Oil it twice.' })
  })

  it('a phrase shows its reading and its next firings, an ambiguous one its candidates, and becomes a schedule', async () => {
    await open('/schedules')
    await page.getByLabel('Time zone').fill('Europe/Berlin')
    await page.getByLabel('When').fill('at 9')
    const candidate = page.getByRole('button', { name: /09:00$/ })
    await candidate.waitFor()
    await page.getByLabel('When').fill('every weekday at 9')
    await seen('Every weekday at 09:00, Europe/Berlin')
    expect(await page.locator('.firings li').count()).toBe(5)
    await page.getByLabel('What to do').fill('Summarise the day before.')
    await page.getByRole('button', { name: 'Create schedule' }).click()
    await page.getByRole('heading', { name: /every weekday at 09:00/ }).waitFor()
    // Two weeks have ten working days; that of today may be over.
    await expect
      .poll(() =>
        page
          .locator('.calendar-day')
          .getByText(/Summarise the day before/)
          .count(),
      )
      .toBeGreaterThanOrEqual(9)
    await page.getByLabel('When').fill('every minute')
    await seen(/^Every minute/)
    await page.getByLabel('What to do').fill('Take the pulse.')
    await page.getByRole('button', { name: 'Create schedule' }).click()
    await page
      .locator('.calendar-day')
      .getByText(/ from .* Take the pulse/)
      .first()
      .waitFor()
    expect(
      await page
        .locator('.calendar-day')
        .getByText(/Take the pulse/)
        .count(),
    ).toBe(14)
    const dense = page.getByRole('region', { name: /every minute/ })
    await dense.getByRole('button', { name: 'Deactivate' }).click()
    await page
      .locator('.calendar-day')
      .getByText(/Take the pulse/)
      .first()
      .waitFor({ state: 'detached' })
    await dense.getByRole('button', { name: 'Pause' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Resume' }).waitFor()
  })

  it('a poor result is judged with evidence by criterion, and sent back for another round', async () => {
    await open('/tasks/new')
    await page.getByLabel('Title').fill('Make it green')
    // The runner delivers what it was told.
    await page.getByLabel('Instructions').fill('<npl-block type="check-in">\n- 🐛 All tests pass: two of them fail\n</npl-block>')
    await page.getByLabel('Acceptance criteria, one a line').fill('All tests pass')
    await page.getByRole('button', { name: 'Create task' }).click()
    await heading('Make it green')
    const address = page.url()
    await page.getByRole('button', { name: 'Dispatch' }).click()
    await page.getByLabel('Runner').selectOption('act')
    await page.getByLabel('Revision rounds').fill('1')
    await page.getByRole('dialog').getByRole('button', { name: 'Dispatch' }).click()
    await page.waitForURL(/subtasks\/[0-9a-f-]{36}/)
    await page.goto(address)
    await page.getByRole('tab', { name: 'Subtasks' }).click()
    await expect.poll(() => page.locator('.list-row').getByText('completed').count(), { timeout: 20_000 }).toBe(2)
    await page.getByRole('tab', { name: 'Verdicts' }).click()
    const verdicts = page.getByRole('region', { name: 'Verdicts' })
    await verdicts.first().getByText('unmet').waitFor()
    await verdicts.first().getByText('two of them fail').waitFor()
  })

  it('where a person and a verdict differ, the row is flagged from the list, without the chart being read for each event', async () => {
    const acts = [{ result: 'Done.\n\n<npl-block type="reflection">\n✅ Everything works\n</npl-block>' }]
    await open('/')
    const id = await spawn('Tidy the shed.', 'act', { metadata: { acts } })
    await page.getByRole('region', { name: 'Output' }).getByText('Done.').waitFor()
    // When the stream begins, what the screen has read is read again.
    const stream = page.waitForResponse(/\/events(\?|$)/)
    await open('/evaluations')
    await stream
    await settled(page)
    const parts: string[] = []
    page.on('request', (request) => request.url().includes('stats?by=criterion&since=') && parts.push(request.url()))
    await page.getByLabel('Scores of').selectOption('By criterion')
    const row = page.locator('.list-row', { has: page.locator(`a[href$="${id}"]`) })
    await row.getByLabel('Flag the quality').waitFor()
    await settled(page)
    await expect.poll(() => parts).toHaveLength(6)
    await row.getByLabel('Flag the quality').selectOption('bad')
    await seen('Flagged as bad.')
    const cases = page.getByRole('list', { name: 'Where verdicts and people differ most' }).getByRole('listitem')
    const found = cases.filter({ has: page.locator(`a[href$="${id}"]`) })
    await found.getByLabel('Flag the quality').selectOption('excellent')
    await seen('Flagged as excellent.')
    expect(parts).toHaveLength(6)
    const link = await page.getByRole('link', { name: 'Export training data' }).getAttribute('href')
    expect((await page.request.get(`${system.api.address}${link}`)).status()).toBe(200)
  })

  it('a guide that is written by hand reaches the run whose error it knows, and whether it helped is counted', async () => {
    await open('/guides')
    await page.getByText('New guide').click()
    await page.getByLabel('Title').fill('Port already in use')
    await page.getByLabel('Words of the error message, one pattern a line').fill('EADDRINUSE')
    await page.getByLabel('What to do').fill('Find the process with `ss -ltnp`.')
    await page.getByRole('button', { name: 'Create guide' }).click()
    await seen(/The guide is stored/)
    const attempts = [[{ error: 'listen EADDRINUSE :::7300', retryable: true }], [{ result: 'Moved to another port.' }]]
    await open('/')
    const id = await spawn('Start the server.', 'act', { metadata: { attempts } })
    await page.getByRole('region', { name: 'Output' }).getByText('Moved to another port.').waitFor()
    expect((await system.ledger.written(id, 'start', 2)).text).toContain('Port already in use')
    await open('/guides')
    await page.getByText('Port already in use').click()
    await seen('1 times, read 0 times')
    await page.getByRole('button', { name: 'It helped' }).click()
    await seen('1 of 1')
  })

  it('a delivery that failed shows each attempt with its answer, and is sent again', async () => {
    const receiver = await startReceiver(system.client, { status: 507, body: 'no room left' })
    await open('/webhooks')
    await page.getByLabel('URL', { exact: true }).fill(receiver.url)
    await page.getByRole('button', { name: 'Create webhook' }).click()
    const webhook = page.getByRole('region', { name: receiver.url })
    await webhook.getByRole('button', { name: 'Test' }).click()
    await webhook.getByRole('link', { name: 'Deliveries' }).click()
    await page.getByRole('link', { name: /^webhook\.test/ }).click()
    await page.getByRole('list', { name: 'Attempts' }).getByText('Answered 507').waitFor()
    await seen('no room left')
    receiver.answer = { status: 200, body: 'kept' }
    await page.getByRole('button', { name: 'Send again' }).click()
    await page.getByRole('list', { name: 'Attempts' }).getByText('kept').waitFor()
    await page.getByRole('heading', { name: /delivered/, level: 1 }).waitFor()
    await open('/webhooks')
    await webhook.getByRole('button', { name: 'Delete' }).click()
    await webhook.waitFor({ state: 'detached' })
    await receiver.close()
  })

  it('a question is answered by keyboard alone, and the run goes on', async () => {
    await open('/')
    const id = await spawn('Paint the house.', 'ask', { session: 'painter', attempts: 5 })
    await page.getByRole('heading', { name: 'Asks' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder(/Go to a screen/).waitFor()
    // The search for ended work, which comes later, changes nothing about which screen is chosen.
    const searched = page.waitForResponse((response) => response.url().includes('q=questions'))
    await page.keyboard.type('questions')
    await searched
    await page.keyboard.press('Enter')
    await heading('Questions')
    await expect.poll(() => focused()).toBe('h1')
    await page.getByLabel('Answer', { exact: true }).waitFor()
    for (let stops = 0; stops < 10 && (await focused()) !== 'textarea'; stops += 1) await page.keyboard.press('Tab')
    await page.keyboard.type('Blue')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    expect(await system.client.ended(id)).toMatchObject({ status: 'completed', result: expect.stringContaining('Blue') })
    await seen('Nothing waits for a person.')
    expect(await page.evaluate('document.querySelector("main").contains(document.activeElement)')).toBe(true)
  })

  it('a form of a schema is answered, and an approval with changed arguments permits only those', async () => {
    const { id } = await system.client.spawn({ task: 'Hold for a form.', runner: 'hold' })
    await system.ledger.written(id, 'start', 1)
    const schema = { type: 'object', properties: { port: { type: 'integer', minimum: 1 }, tls: { type: 'boolean' } }, required: ['port'] }
    const form = await system.client.ok<{ question_id: string }>('POST', `/subtasks/${id}/questions`, { body: { prompt: 'Which port?', schema } })
    const approval = await system.client.ok<{ question_id: string }>('POST', `/subtasks/${id}/questions`, {
      body: { kind: 'approval', prompt: 'May I push?', arguments: { command: 'git push --force' } },
    })
    await open(`/subtasks/${id}`)
    await page.getByLabel('port').fill('5432')
    await page.getByLabel('tls').check()
    await page.getByRole('button', { name: 'Answer' }).click()
    await page.getByLabel(/Exactly this is approved/).fill('{"command": "git push"}')
    await page.getByRole('button', { name: 'Approve as changed' }).click()
    await page.getByRole('heading', { name: 'Waits for approval' }).waitFor({ state: 'detached' })
    expect(await system.client.ok('GET', `/questions/${form.question_id}`)).toMatchObject({ answer: { answer: { port: 5432, tls: true } } })
    expect(await system.client.ok('GET', `/questions/${approval.question_id}`)).toMatchObject({
      answer: { decision: 'approve', edited_arguments: { command: 'git push' } },
    })
    system.ledger.release(id)
    await system.client.ended(id)
  })

  it('a worker that is killed while the page watches costs an attempt, and the page shows the next one', async () => {
    await open('/')
    const id = await spawn('Hold over a death.', 'hold')
    await system.ledger.written(id, 'start', 1)
    await seen('1, 0 of 2 failures')
    await system.startWorker()
    await system.workers[0]?.child.end('SIGKILL')
    await seen('2, 1 of 2 failures')
    system.ledger.release(id)
    await seen(/Held in attempt 2/)
  })
})

describe('text of agents', () => {
  it('runs nothing, loads nothing and leads nowhere, in every field that an agent can write, on every screen', async () => {
    const requested: string[] = []
    page.on('request', (request) => requested.push(request.url()))
    page.on('dialog', (dialog) => errors.push(`a dialog: ${dialog.message()}`))
    const { written, pages } = await fillHostile(system)
    const left = new Set(written)
    const wrong: Record<string, string[]> = {}
    for (const { path, typed = {}, shows } of pages) {
      await open(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await settled(page)
      for (const [label, text] of Object.entries(typed)) await page.getByLabel(label).fill(text)
      if (shows !== undefined) await page.getByText(shows).waitFor()
      const found = await readScreen(page, left)
      if (found.length > 0) wrong[path] = found
    }
    await page.evaluate('sessionStorage.clear()')
    expect(wrong).toEqual({})
    expect([...left]).toEqual([])
    expect(requested.filter((url) => !url.startsWith(system.api.address))).toEqual([])
    // Had a text become any of these, it would have been noticed.
    await page.evaluate(`document.querySelector('main').append(
      Object.assign(document.createElement('a'), { href: 'javascript:1' }),
      Object.assign(new Image(), { src: 'https://tracker.example/pixel.png' }))`)
    expect(await readScreen(page, left)).toEqual(expect.arrayContaining(['link to javascript:1', 'src=https://tracker.example/pixel.png']))
    await expect.poll(() => errors.join()).toContain('tracker.example')
    errors.length = 0
  }, 180_000)
})

describe('with keys', () => {
  it('a page asks for one, keeps none, and asks again when it is revoked; a sign-in and a sign-out count for all tabs', async () => {
    const secured = await startSystem({ workers: 0, env: { AUTH: 'keys' } })
    const context = await browser.newContext()
    try {
      const { key } = await secured.mintKey(['admin'])
      const { page: other } = await openPage(context)
      await other.goto(`${secured.api.address}/`)
      await other.getByLabel('API key').fill('mst_key_wrong')
      await other.getByRole('button', { name: 'Sign in' }).click()
      await other.getByText('This API key is not valid.').waitFor()
      await other.getByLabel('API key').fill(key)
      await other.getByRole('button', { name: 'Sign in' }).click()
      await other.getByRole('heading', { name: 'Now' }).waitFor()
      const { page: second } = await openPage(context)
      await second.goto(`${secured.api.address}/ui/tasks/new`)
      await second.getByLabel('Title').fill('Not for others')
      await second.getByRole('button', { name: 'Sign out' }).click()
      for (const tab of [other, second]) await tab.getByLabel('API key').waitFor()
      expect(await second.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain('Not for others')
      await other.getByLabel('API key').fill(key)
      await other.getByRole('button', { name: 'Sign in' }).click()
      await other.getByRole('heading', { name: 'Now' }).waitFor()
      await second.getByRole('heading', { name: 'New task' }).waitFor()
      await second.close()
      const kept = await other.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])')
      expect(kept).not.toContain('mst_')
      await other.goto(`${secured.api.address}/ui/settings`)
      await other.getByRole('button', { name: 'Revoke' }).click()
      await other
        .getByText(/has been revoked/)
        .first()
        .waitFor()
      await other.getByLabel('API key').waitFor()
    } finally {
      await context.close()
      await secured.close()
    }
  })
})

/** An outage lasts so long at least. */
const OUTAGE_MS = 20_000

describe('an outage of the database', () => {
  let postgres: OwnPostgres
  let fragile: System
  // Not within the time of the test, a third of which the outage takes.
  beforeAll(async () => {
    postgres = await startOwnPostgres()
    fragile = await startSystem({ database: postgres.database })
  })
  afterAll(() => fragile?.close())

  it('shows a banner, keeps what was typed, and ends by itself', async () => {
    const context = await browser.newContext()
    try {
      const { page: other } = await openPage(context)
      await other.goto(`${fragile.api.address}/`)
      const id = await spawn('Hold over an outage.', 'hold', {}, other)
      await fragile.ledger.written(id, 'start', 1)
      const box = other.getByLabel('Say something to this run')
      await box.fill('Do not lose this.')
      await postgres.server.stop('immediate')
      const awayAt = performance.now()
      await other.getByRole('button', { name: 'Send' }).click()
      await other.getByText(/does not answer/).waitFor()
      expect(await box.inputValue()).toBe('Do not lose this.')
      await other.goto(`${fragile.api.address}/ui/subtasks/${id}`)
      await other.getByText(/does not answer/).waitFor()
      await expect.poll(() => performance.now() - awayAt, { timeout: OUTAGE_MS * 2, interval: 500 }).toBeGreaterThan(OUTAGE_MS)
      await postgres.server.restart('immediate')
      await other.getByText(/does not answer/).waitFor({ state: 'detached' })
      expect(await box.inputValue()).toBe('Do not lose this.')
      await other.getByRole('button', { name: 'Send' }).click()
      await other.getByText('Do not lose this.', { exact: true }).waitFor()
      fragile.ledger.release(id)
      await other.getByText(/Held in attempt/).waitFor()
    } finally {
      await context.close()
    }
  })
})
