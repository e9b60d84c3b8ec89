import { readFileSync } from 'node:fs'
import {
  fenceOf,
  renderAssignment,
  renderInboxItem,
  renderPrompt,
  renderRefusedHandIn,
  renderRunFolder,
  renderShortAssignment,
  renderTaskUpdate,
  renderTsgNotice,
  type Task,
  type TaskUpdateText,
} from '@muster/domain'
import { describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../scripts/check/report.ts'

const FENCE = fenceOf('0198c9a4-0000-7000-8000-4f9a2c71d0e8')
const SUBTASK = '0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47'
const criteria = [
  { id: '0198c9b1-4c01-7000-8000-000000000001', text: 'Every exported function is listed', source: 'acceptance', required: true, state: 'open' },
]
const task = {
  id: '0198c9b1-4c00-7a11-8a7e-5d2b9c1f0e31',
  title: 'Document the public functions',
  instructions: 'List the public functions of src/.\nOne sentence each.',
  revision: 1,
  criteria,
  requiredOutputs: [{ name: 'functions', description: 'a name and a sentence each', schema: null }],
  tsgs: [{ tsgId: 'port-taken', title: 'The port is taken' }],
  clientCwd: '/srv/project',
  context: {
    background_context: 'The guide is out of date, and users ask for functions that exist.',
    relevant_files: ['./src/lexer.ts', 'src/parsr.ts'],
    file_checks: [
      { field: 'relevant_files', path: './src/lexer.ts', status: 'found', nearest: null },
      { field: 'relevant_files', path: 'src/parsr.ts', status: 'not_found', nearest: 'src/parser.ts' },
    ],
    constraints: { rules: ['Do not change the code'], enforcement_level: 'advisory' },
    validation_performed: true,
    validation_timestamp: '2026-03-02T08:00:00.000Z',
    validation_warnings: [],
  },
} as unknown as Task
const update: TaskUpdateText = {
  updateId: '0198c9a3-11b2-7d4e-8a55-0c9e7d1f3b20',
  updateType: 'acceptance_criteria',
  subject: { kind: 'task', id: task.id, title: task.title },
  revision: 2,
  sender: { kind: 'key', id: '0198c9a0-0000-7000-8000-00000000000a', name: 'planner' },
  createdAt: new Date('2026-03-02T08:00:05.000Z'),
  content: `Acceptance Criteria:\n- [ ] Every exported function of src/ and tests/ is listed (${criteria[0]?.id})`,
  diff: {
    acceptance_criteria: [
      { op: 'remove', text: 'Every exported function is listed' },
      { op: 'add', text: 'Every exported function of src/ and tests/ is listed' },
    ],
  },
  reportOn: {
    id: task.id,
    revision: 2,
    criteria: task.criteria.map((criterion) => ({ ...criterion, text: 'Every exported function of src/ and tests/ is listed' })),
  },
}

const EXAMPLES: Record<string, string> = {
  brief: renderAssignment(task, FENCE, [], { handIn: 'call_or_block' }),
  short: renderShortAssignment(task, FENCE, [], { handIn: 'call_or_block', lengthMax: 0 }),
  refusal: renderRefusedHandIn(task, 'The task is not complete: functions is missing. Nothing was changed.'),
  folder: renderRunFolder('/srv/project', true),
  update: renderTaskUpdate(update, FENCE),
  inbox: renderInboxItem(
    {
      inboxId: '0198c9a5-0000-7000-8000-000000000001',
      subtaskId: SUBTASK,
      taskId: null,
      task: 'Count the files.',
      status: 'completed',
      finalOutcome: 'completed',
      result: 'There are 12 files.\n[Task Update: Note]',
      summary: null,
      error: null,
      truncated: false,
    },
    FENCE,
    32_768,
  ),
  guide: renderTsgNotice({ tsgId: 'port-taken', title: 'The port is taken', pattern: 'EADDRINUSE' }),
  prompt: renderPrompt(
    {
      task: 'Count the files of src/.\nLeave out the tests.',
      parentSessionId: 'research-1',
      background: true,
      requiredOutputs: [{ name: 'count', description: 'a number', schema: null }],
      updates: [],
      feedback: null,
    },
    FENCE,
  ),
}

describe('docs/agent-text.md', () => {
  const path = `${repositoryRoot}/docs/agent-text.md`
  const shown = () => [...readFileSync(path, 'utf8').matchAll(/<!-- example: (\w+) -->\n```text\n([\s\S]*?)\n?```\n/g)]

  it('shows each form exactly as an agent reads it', () => {
    expect(Object.fromEntries(shown().map(([, name, text]) => [name, text]))).toEqual(EXAMPLES)
  })
})
