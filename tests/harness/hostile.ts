import type { Page } from 'playwright-core'
import { settled } from './browser.ts'
import { startReceiver } from './receiver.ts'
import type { System } from './system.ts'
import { until } from './until.ts'
import type { ClaimedSubtask } from './wire.ts'

/** A server that no page may ever ask for anything. */
const ELSEWHERE = 'https://tracker.example'

/** Ways in which a text has become a script, a request or a `javascript:` address in some page. `HIT` stands for the attack itself. */
const PAYLOADS = [
  '<script>HIT</script>',
  '<img src=x onerror="HIT">',
  '<svg onload="HIT"></svg>',
  '<svg><animate onbegin="HIT" attributeName=x dur=1s></svg>',
  '<details open ontoggle="HIT"><summary>x</summary></details>',
  '<input autofocus onfocus="HIT">',
  '"><iframe srcdoc="<script>parent.HIT</script>"></iframe>',
  `<iframe src="javascript:parent.HIT"></iframe><object data="${ELSEWHERE}/o"></object><embed src="${ELSEWHERE}/e">`,
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=HIT&gt;">',
  '</textarea></pre></code><script>HIT</script>',
  '<a href="data:text/html,<script>opener.HIT</script>">x</a>',
  '<a href="jav&#x09;ascript:HIT">x</a>',
  '[a](javascript:HIT)',
  '[b](JaVaScRiPt:HIT)',
  '[c](java&#115;cript:HIT)',
  '[d](&#1;javascript:HIT)',
  '[e](vbscript:HIT) [f](data:text/html,x) [g](file:///etc/passwd)',
  '<javascript:HIT>',
  '[h][r]\n\n[r]: javascript:HIT "x"',
  '![i](javascript:HIT)',
  `![j](${ELSEWHERE}/pixel.png)`,
  `<img src="${ELSEWHERE}/i" srcset="${ELSEWHERE}/s 2x"><video src="${ELSEWHERE}/v" autoplay></video><audio src="${ELSEWHERE}/a" autoplay></audio>`,
  `<style>@import '${ELSEWHERE}/css'; * { background: url(${ELSEWHERE}/bg) }</style>`,
  `<link rel="stylesheet" href="${ELSEWHERE}/link"><link rel="prefetch" href="${ELSEWHERE}/prefetch"><base href="${ELSEWHERE}/">`,
  `<meta http-equiv="refresh" content="0;url=${ELSEWHERE}/meta">`,
  `<form action="${ELSEWHERE}/form"><button autofocus>x</button></form>`,
  '| a |\n|---|\n| <img src=x onerror=HIT> [k](javascript:HIT) |',
  '```"><img src=x onerror=HIT>\n</code></pre><script>HIT</script>\n```',
  'A note[^1].\n\n[^1]: [l](javascript:HIT)',
  `{{constructor.constructor('HIT')()}} \${HIT}`,
]

const hit = (field: string) => `window.hacked='${field}'`

/** A mark that says which field is shown, followed by everything that fits. */
function hostile(field: string, length = Number.POSITIVE_INFINITY): string {
  const whole = [markOf(field), ...PAYLOADS].join('\n\n').replaceAll('HIT', hit(field))
  if (whole.length <= length) return whole
  return `${markOf(field)}<img src=x onerror=${hit(field)}>[a](javascript:alert(1))`.slice(0, length)
}

const markOf = (field: string) => `((${field}))`

/** Everything that an agent, its tools or what it talks to can write, as the value of the field that it ends in; and where it is shown. */
export async function fillHostile(system: System) {
  const { client, admin } = system
  const written = new Set<string>()
  const text = (field: string, length?: number): string => {
    written.add(markOf(field))
    return hostile(field, length)
  }
  const post = <Body>(path: string, body: unknown, method = 'POST') => client.ok<Body>(method, path, { body })

  const guide = await post<{ id: string }>('/tsgs', {
    title: text('guide.title', 256),
    content: text('guide.content'),
    patterns: [text('guide.pattern', 500)],
  })
  await post('/memory/facts', { content: `hostile ${text('fact.content')}`, tags: [text('fact.tag', 64)] })
  await client.ok('PUT', '/subagents/hostile', {
    rawBody: `---\nname: hostile\ndescription: ${JSON.stringify(text('subagent.description', 300))}\nmodel: haiku\ntools: Read\n---\n\n${text('subagent.instructions')}`,
    headers: { 'content-type': 'text/markdown' },
  })
  await post('/schedules', { task: text('schedule.task'), every: 'every 2 hours', runner: 'external', agent_id: 'hostile', parent_session_id: 'hostile' })
  await post('/webhooks', {
    url: `https://example.com/?${encodeURI(text('webhook.url', 200))}`,
    events: ['subtask.completed'],
    description: 'x',
  })
  // It answers with what its log shows the beginning of.
  const receiver = await startReceiver(client, { status: 500, body: text('delivery.response', 1_000) })
  const refused = await post<{ id: string }>('/webhooks', { url: receiver.url, events: ['subtask.failed'] })
  await post('/api-keys', { name: text('key.name', 128), scopes: ['events:read'] })

  const task = await post<{ id: string; acceptance_criteria: { id: string; text: string }[] }>('/tasks', {
    title: text('task.title', 256),
    instructions: 'Plain.',
    acceptance_criteria: [text('task.criterion', 900), 'All tests pass'],
    required_outputs: [text('task.required output', 128)],
    background_context: text('task.background', 5_000),
    relevant_files: [text('task.file', 200)],
    tsgs: [guide.id],
    parent_session_id: text('task.parent session', 128),
  })
  const later = await post<{ id: string }>('/tasks', { title: text('later task.title', 256), instructions: 'x', depends_on: [task.id] })
  await post(`/tasks/${later.id}/cancel`, { reason: text('task.reason', 2_000) })
  await post(`/tasks/${task.id}/assign`, { subagent_session_id: text('task.assignee', 128) })
  await client.ok('PATCH', `/tasks/${task.id}`, { headers: { 'if-match': '"1"' }, body: { instructions: text('revision.instructions') } })
  await post(`/tasks/${task.id}/updates`, { content: text('note.content', 15_000) })
  await post(`/tasks/${task.id}/check-ins`, { content: '<npl-block type="check-in">\n- 🐛 All tests pass\n</npl-block>' })

  const agent = text('subtask.agent', 128)
  const running = await client.spawn({
    task: text('subtask.task'),
    runner: 'external',
    agent_id: agent,
    parent_session_id: text('subtask.parent session', 128),
    required_outputs: [{ name: text('required output.name', 128), description: text('required output.description', 2_000) }] as never,
  })
  const claim = (worker_id: string) => post<ClaimedSubtask>('/subtasks/claim', { runner: 'external', worker_id, lease_seconds: 600, wait_seconds: 20 })
  const held = await claim(text('worker.id', 128))
  const steps = [
    { kind: 'message', content: text('step.message') },
    { kind: 'tool_call', content: { id: '1', name: text('tool.name'), input: { [text('argument.name')]: text('argument.value') } } },
    { kind: 'tool_result', content: { id: '1', output: text('tool.output') } },
    { kind: 'tool_result', content: { [text('tool.output name', 90)]: 1 } },
    { kind: 'error', content: { text: text('step.error') } },
  ]
  await post(`/subtasks/${running.id}/heartbeat`, { lease_token: held.lease.token, steps })
  await post(`/subtasks/${running.id}/updates`, { content: text('update.content', 15_000) })
  const ask = (body: object) => post(`/subtasks/${running.id}/questions`, body)
  await ask({
    prompt: text('question.prompt', 15_000),
    options: [{ id: 'a', label: text('option.label', 200), description: text('option.description', 2_000) }],
  })
  await ask({ prompt: 'With a form', schema: formSchema(text) })
  await ask({ prompt: 'As JSON', schema: { type: 'array', items: { enum: [text('schema.raw')] } } })
  await ask({ kind: 'approval', prompt: 'Approval', arguments: { [text('approval.argument name', 90)]: text('approval.argument') } })

  const ended = await client.spawn({ task: 'hostile ended', runner: 'external', agent_id: 'hostile' })
  const { lease } = await claim('hostile')
  await post(`/subtasks/${ended.id}/heartbeat`, { lease_token: lease.token, usage: { input_tokens: 1, model: text('model', 200) } })
  await post(`/subtasks/${ended.id}/complete`, {
    lease_token: lease.token,
    result: `${text('result')}\n\n<npl-block type="reflection">\n✅ ${text('reflection', 300).replaceAll('\n', ' ')}\n</npl-block>`,
    summary: text('summary'),
    outputs: { [text('output.name', 90)]: text('output.value') },
  })
  await client.ended(ended.id)
  const failed = await client.spawn({ task: 'hostile failed', runner: 'external', agent_id: 'hostile', max_attempts: 1 })
  const other = await claim('hostile')
  await post(`/subtasks/${failed.id}/fail`, { lease_token: other.lease.token, error: text('error'), retryable: false })

  const delivery = await until('a delivery is refused', async () => {
    const { items } = await client.ok<{ items: { id: string; attempts: unknown[] }[] }>('GET', `/deliveries?receiver_id=${refused.id}`)
    return items.find(({ attempts }) => attempts.length > 0) ?? null
  })
  await receiver.close()

  await post('/evaluations', { output: 'hostile', acceptance_criteria: [text('evaluation.criterion', 900)] })
  // What judges, checks and receivers answer with: written where they would write it.
  await admin`update check_ins set verdicts = (select jsonb_agg(v || jsonb_build_object('note', ${text('check-in.note')}::text)) from jsonb_array_elements(verdicts) as v)
    where task_id = ${task.id}`
  await admin`update evaluations set summary = ${text('evaluation.summary', 300)} where subtask_id = ${ended.id}`
  const verdict = { id: 'x', text: text('verdict.text', 900), required: true, verdict: 'unmet', method: 'judge', evidence: text('verdict.evidence') }
  await admin`update evaluations set detail = jsonb_set(jsonb_set(detail, '{criteria}', ${admin.json([verdict])}), '{warnings}',
    ${admin.json([{ code: 'x', message: text('evaluation.warning', 900) }])}) where subtask_id = ${ended.id}`
  // Prompts of outside workers are not known here; what a runner would have sent.
  const prompt = { system: text('prompt.system'), message: text('prompt.message'), isContinued: false, isCut: false }
  await admin`insert into steps (project_id, subtask_id, seq, attempt, kind, content)
    select project_id, id, -1, 1, 'prompt', ${admin.json(prompt)} from subtasks where id = ${ended.id}`
  const forms: HostilePage[] = [
    { path: '/subtasks/new', typed: { Instructions: text('spawn form.instructions') } },
    { path: '/tasks/new', typed: { Title: text('task form.title', 200), 'Acceptance criteria, one a line': text('task form.criterion', 900) } },
  ]
  const pages = [...pagesOf({ running: running.id, ended: ended.id, failed: failed.id, task: task.id, later: later.id, delivery: delivery.id }), ...forms]
  return { written, pages }
}

function formSchema(text: (field: string, length?: number) => string) {
  const name = text('schema.name', 90)
  return {
    type: 'object',
    properties: {
      [name]: { type: 'string' },
      titled: { type: 'string', title: text('schema.title'), description: text('schema.description'), default: text('schema.default', 500) },
      // Names of properties that every form element has, and that scripts read.
      ...Object.fromEntries(['nodeName', 'ownerDocument', 'elements', 'submit'].map((each) => [each, { type: 'boolean' }])),
      choice: { enum: [text('schema.choice', 300), 'b'] },
    },
    required: [name],
  }
}

interface HostilePage {
  path: string
  /** By the name of its field. */
  typed?: Record<string, string>
  /** Appears once it was typed. */
  shows?: string
}

function pagesOf(ids: { running: string; ended: string; failed: string; task: string; later: string; delivery: string }): HostilePage[] {
  return [
    ...[ids.running, ids.ended, ids.failed].map((id) => ({ path: `/subtasks/${id}` })),
    ...[ids.task, ids.later].map((id) => ({ path: `/tasks/${id}` })),
    ...['/', '/subtasks', '/questions', '/tasks', '/schedules', '/evaluations', '/subagents', '/guides', '/events'].map((path) => ({ path })),
    { path: `/deliveries/${ids.delivery}` },
    { path: '/memory', typed: { Words: 'hostile' }, shows: 'Best first' },
    ...['/webhooks', '/deliveries', '/usage', '/workers', '/audit', '/settings'].map((path) => ({ path })),
  ]
}

/** In the page: what it shows, also in shadow roots and fields; and what no text may have become. */
const INSPECT = `(() => {
  const shown = []
  const wrong = []
  const visit = (root) => {
    for (const element of root.querySelectorAll('*')) {
      if (element.shadowRoot) visit(element.shadowRoot)
      for (const { name, value } of element.attributes) {
        shown.push(value)
        if (name.startsWith('on') || name === 'srcdoc' || name === 'formaction') wrong.push(name + '=' + value)
        if (/^(src|srcset|action|data|poster)$/.test(name) && new URL(value, location.href).origin !== location.origin) wrong.push(name + '=' + value)
      }
      if ('value' in element) shown.push(String(element.value))
      if (/^(iframe|object|embed|base|form|meta|link|style|script|video|audio|math)$/.test(element.localName) && element.closest('.prose')) wrong.push(element.outerHTML)
      if (element.localName === 'a' && element.hasAttribute('href')) {
        if (!/^(https?|mailto):$/.test(element.protocol)) wrong.push('link to ' + element.href)
        if (element.origin !== location.origin && !element.relList.contains('noopener')) wrong.push('no noopener: ' + element.href)
      }
    }
    shown.push((root.body ?? root).textContent)
  }
  visit(document)
  return { shown: shown.join('\\n'), wrong, hacked: window.hacked }
})()`

/** Opens everything that can be opened on a screen, and adds the marks that it shows. @returns what a text of an agent became that it must not */
export async function readScreen(page: Page, left: Set<string>): Promise<string[]> {
  const wrong: string[] = []
  const look = async () => {
    const found = (await page.evaluate(INSPECT)) as { shown: string; wrong: string[]; hacked?: string }
    for (const mark of left) if (found.shown.includes(mark)) left.delete(mark)
    wrong.push(...found.wrong, ...(found.hacked === undefined ? [] : [`a script ran: ${found.hacked}`]))
  }
  const open = async () => {
    await page.evaluate(
      `for (const each of document.querySelectorAll('main details:not([open]) > summary, main [aria-expanded=false]:not([aria-haspopup])')) each.click()`,
    )
    await settled(page)
    await look()
  }
  await open()
  for (const tab of await page.getByRole('tab').all()) {
    await tab.click()
    await page.getByRole('tabpanel', { name: (await tab.textContent()) ?? '' }).waitFor()
    await open()
  }
  await page.evaluate(`for (const each of document.querySelectorAll('main .markdown > button[aria-pressed=false]')) each.click()`)
  await look()
  return wrong
}
