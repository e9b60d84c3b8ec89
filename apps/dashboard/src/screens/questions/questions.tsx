import type { Question } from '@muster/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Badge } from '../../design/badge.tsx'
import { curlLine, Empty } from '../../design/empty.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Page, Panel } from '../../design/panel.tsx'
import { Time } from '../../design/time.tsx'
import { AnswerForm } from './answer-form.tsx'
import { closedQuestionsQuery, openQuestionsQuery } from './queries.ts'

/** What runs and assignees ask, oldest first: it has waited longest. */
export function Questions() {
  const open = useQuery(openQuestionsQuery)
  const closed = useQuery(closedQuestionsQuery)
  return (
    <Page title="Questions">
      <div className="stack">
        <Loaded query={open}>{(questions) => (questions.length === 0 ? <NoQuestions /> : <Open questions={questions} />)}</Loaded>
        <Loaded query={closed}>{(questions) => (questions.length === 0 ? null : <Closed questions={questions} />)}</Loaded>
      </div>
    </Page>
  )
}

function Open({ questions }: { questions: Question[] }) {
  return [...questions].reverse().map((question) => (
    <Panel key={question.id} title={<Asker question={question} />}>
      <AnswerForm question={question} />
    </Panel>
  ))
}

function NoQuestions() {
  return (
    <Panel title="Open" count={0}>
      <Empty
        curl={curlLine('/subtasks/$SUBTASK/questions', { prompt: 'Which database?', options: [{ id: 'pg', label: 'PostgreSQL' }] })}
        sdk={`const { answer } = await run.ask({ prompt: 'Which database?' })   // in a worker`}
      >
        Nothing waits for a person. A run that asks appears here, and waits without a process.
      </Empty>
    </Panel>
  )
}

function Asker({ question }: { question: Question }) {
  const kind = question.kind === 'approval' ? 'Approval for' : 'Question of'
  if (question.subtask_id === null) return `${kind} task ${question.task_id?.slice(-6)}`
  return (
    <>
      {kind}{' '}
      <Link to="/subtasks/$id" params={{ id: question.subtask_id }}>
        subtask {question.subtask_id.slice(-6)}
      </Link>
    </>
  )
}

function Closed({ questions }: { questions: Question[] }) {
  return (
    <details className="panel">
      <summary className="panel-head">Answered and expired ({questions.length})</summary>
      <ul className="list">
        {questions.map((question) => (
          <li key={question.id}>
            <Badge status={question.status} />
            <span className="title">{question.prompt}</span>
            <span className="meta">{question.answered_by?.id}</span>
            <Time at={question.answered_at ?? question.expires_at} />
          </li>
        ))}
      </ul>
    </details>
  )
}
