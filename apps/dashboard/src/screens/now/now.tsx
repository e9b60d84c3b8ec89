import type { Agent, Schedule, Subtask } from '@muster/client'
import { queryOptions, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { curlLine, Empty } from '../../design/empty.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Page, Panel } from '../../design/panel.tsx'
import { Time } from '../../design/time.tsx'
import { keys } from '../../live/refresh.ts'
import { muster } from '../../muster.ts'
import { openQuestionsQuery } from '../questions/queries.ts'
import { NewSubtaskLink } from '../subtasks/new-subtask-link.tsx'
import { subtasksOfStatusQuery } from '../subtasks/queries.ts'
import { SubtaskRow } from '../subtasks/subtask-row.tsx'
import { Activity } from './activity.tsx'

/** An overview shows so many of a status; the list has the rest. */
const SHOWN = 8
const READ = 200
const AGENTS = 20
/** Beyond this, the server may have counted only a part of what is pending. */
const COUNTED = 1_000

type SubtaskPage = { items: Subtask[]; next_cursor: string | null }

const dueQuery = queryOptions({
  queryKey: keys.list('schedule', 'due'),
  queryFn: async () => {
    const schedules = await muster.schedules.list({ limit: READ }).all(1_000)
    return schedules.filter((schedule) => schedule.next_fire_at !== null).sort((a, b) => ((a.next_fire_at ?? '') < (b.next_fire_at ?? '') ? -1 : 1))
  },
})

/** Workers write no events, but what takes or frees a slot does. */
const slotsQuery = queryOptions({
  queryKey: keys.list('subtask', 'slots'),
  queryFn: async () => {
    const { items } = await muster.call('listWorkers', {})
    const working = items.filter(({ drain }) => drain === null)
    return { free: sum(working.map(({ capacity, running }) => Math.max(0, capacity - running))), all: sum(working.map(({ capacity }) => capacity)) }
  },
})
const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)

const agentsQuery = queryOptions({
  queryKey: keys.list('subtask', 'agents'),
  queryFn: () => muster.call('listAgents', { query: { limit: AGENTS } }),
})

/** What happens now: what needs a person first, then what runs, waits, fails and comes next. */
export function Now() {
  const running = useQuery(subtasksOfStatusQuery('running', READ))
  const waiting = useQuery(subtasksOfStatusQuery('waiting', READ))
  const pending = useQuery(subtasksOfStatusQuery('pending', READ))
  const failed = useQuery(subtasksOfStatusQuery('failed', SHOWN))
  const completed = useQuery(subtasksOfStatusQuery('completed', SHOWN))
  const due = useQuery(dueQuery)
  const slots = useQuery(slotsQuery)
  const agents = useQuery(agentsQuery)
  const isEmpty = [running, waiting, pending, failed, completed].every(({ data }) => data?.items.length === 0)
  return (
    <Page title="Now" actions={<NewSubtaskLink />}>
      <div className="stack">
        <WaitsForYou />
        <dl className="figures">
          <Figure name="Running" value={countOf(running)} />
          <Figure name="Waiting for an answer" value={countOf(waiting)} />
          <Figure name="Pending" value={countOf(pending)} />
          <Figure name="Free slots" value={slots.data === undefined ? '–' : `${slots.data.free} of ${slots.data.all}`} />
          <Figure name="Schedules due" value={due.data === undefined ? '–' : String(due.data.length)} />
        </dl>
        {isEmpty ? <NothingYet /> : <Activity />}
        <div className="flow">
          <Overview title="Running" status="running" query={running} />
          <Overview title="Waiting" status="waiting" query={waiting} />
          <Loaded query={agents}>{(page) => (page.items.length === 0 ? null : <AgentsWithWork agents={page.items} count={countOf(agents)} />)}</Loaded>
          <Overview title="Failed lately" status="failed" query={failed} />
          <Overview title="Completed lately" status="completed" query={completed} />
          <Loaded query={due}>{(schedules) => (schedules.length === 0 ? null : <DueNext schedules={schedules} />)}</Loaded>
        </div>
      </div>
    </Page>
  )
}

function countOf({ data }: UseQueryResult<{ items: unknown[]; next_cursor: string | null }>): string {
  return data === undefined ? '–' : `${data.items.length}${data.next_cursor === null ? '' : '+'}`
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div className="figure">
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

function NothingYet() {
  return (
    <Panel title="Nothing has run yet">
      <Empty
        curl={curlLine('/subtasks', { task: 'Inspect docs', runner: 'scout', parent_session_id: 'me' })}
        sdk={`const run = await muster.subtasks.spawn({ task: 'Inspect docs', runner: 'scout' })\nfor await (const { kind } of run.follow()) console.log(kind)`}
      >
        <Link to="/subtasks/new">Start a subtask</Link>, and watch it here.
      </Empty>
    </Panel>
  )
}

function WaitsForYou() {
  const { data: questions } = useQuery(openQuestionsQuery)
  if (questions === undefined || questions.length === 0) return null
  return (
    <Panel title="Waits for you" count={questions.length} actions={<Link to="/questions">Answer</Link>} isFlush>
      <ul className="list">
        {questions.slice(-SHOWN).map((question) => (
          <li key={question.id}>
            <Link className="title" to="/questions">
              {question.prompt}
            </Link>
            <Time at={question.asked_at} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function Overview({ title, status, query }: { title: string; status: Subtask['status']; query: UseQueryResult<SubtaskPage> }) {
  const all = (
    <Link to="/subtasks" search={{ status }}>
      All
    </Link>
  )
  return (
    <Loaded query={query}>
      {({ items }) =>
        items.length === 0 ? null : (
          <Panel title={title} actions={all} isFlush>
            <ul className="list compact">
              {items.slice(0, SHOWN).map((subtask) => (
                <li key={subtask.id}>
                  <SubtaskRow subtask={subtask} isBrief />
                </li>
              ))}
            </ul>
          </Panel>
        )
      }
    </Loaded>
  )
}

function AgentsWithWork({ agents, count }: { agents: readonly Agent[]; count: string }) {
  return (
    <Panel title="By agent" count={count} isFlush>
      <ul className="list">
        {agents.map(({ agent_id, running, running_max, pending, pending_max }) => (
          <li key={agent_id}>
            <Link className="title" to="/subtasks" search={{ agent_id }}>
              {agent_id}
            </Link>
            <span className="meta">
              {running} of {running_max} running{pending > 0 && `, ${pending < COUNTED ? '' : 'at least '}${pending} of ${pending_max} pending`}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function DueNext({ schedules }: { schedules: Schedule[] }) {
  return (
    <Panel title="Due next" count={schedules.length} isFlush>
      <ul className="list">
        {schedules.slice(0, SHOWN).map((schedule) => (
          <li key={schedule.id}>
            <span className="title">{schedule.task}</span>
            <span className="meta wide-only">{schedule.canonical}</span>
            <Time at={schedule.next_fire_at} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}
