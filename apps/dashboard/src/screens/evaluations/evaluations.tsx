import type { AgreementStats, EvaluationStats } from '@muster/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useCallback } from 'react'
import { Badge } from '../../design/badge.tsx'
import { curlLine, Empty } from '../../design/empty.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Page, Panel } from '../../design/panel.tsx'
import { Time } from '../../design/time.tsx'
import { VirtualList } from '../../design/virtual-list.tsx'
import { useGrowingList } from '../../live/growing-list.ts'
import { keys } from '../../live/refresh.ts'
import { muster } from '../../muster.ts'
import { Flag } from './flag.tsx'
import { statsQuery } from './queries.ts'
import { ScoreOverTime } from './score-over-time.tsx'

/** How good the work is, by whose word, and where people disagree. */
export function Evaluations() {
  const agreement = useQuery(statsQuery('agreement'))
  return (
    <Page
      title="Evaluations"
      actions={
        <a className="button" href="/training/export?format=jsonl" download="training.jsonl">
          Export training data
        </a>
      }
    >
      <div className="stack">
        <ScoreOverTime />
        <div className="grid">
          <ScoresBy by="subagent" title="By sub-agent" />
          <ScoresBy by="criterion" title="By criterion" />
        </div>
        <Loaded query={agreement}>{(stats) => <Agreement stats={stats as AgreementStats} />}</Loaded>
        <Latest />
      </div>
    </Page>
  )
}

function ScoresBy({ by, title }: { by: 'subagent' | 'criterion'; title: string }) {
  const query = useQuery(statsQuery(by))
  return (
    <Panel title={title} isFlush>
      <Loaded query={query}>
        {(stats) => {
          const { groups } = stats as EvaluationStats
          if (groups.length === 0) return <p className="empty">Nothing has been evaluated yet.</p>
          return (
            <ul className="list">
              {groups.slice(0, 20).map((group) => (
                <li key={group.key ?? ''}>
                  <span className="title">{group.key ?? 'none'}</span>
                  <span className="meta">{group.outputs}</span>
                  <span className="meta">{group.average_score === null ? '–' : group.average_score.toFixed(2)}</span>
                </li>
              ))}
            </ul>
          )
        }}
      </Loaded>
    </Panel>
  )
}

function Agreement({ stats }: { stats: AgreementStats }) {
  const kappa = stats.kappa === null ? `kappa says nothing yet (${stats.reason?.replaceAll('_', ' ')})` : `kappa ${stats.kappa.toFixed(2)}`
  return (
    <Panel title="Agreement with people" count={`${stats.n} pairs, ${kappa}`} isFlush>
      {stats.cases.length === 0 ? (
        <p className="empty">No person has reviewed or flagged an output yet. Where they differ from a verdict, the case appears here.</p>
      ) : (
        <ul className="list" aria-label="Where verdicts and people differ most">
          {stats.cases.map((each) => (
            <li key={`${each.evaluation_id}${each.criterion?.text}`}>
              <Badge status={each.verdict ?? each.recommendation} />
              <span className="grow">
                {each.criterion?.text ?? 'the whole output'} <span className="hint">a person says {each.said.value.replaceAll('_', ' ')}</span>
              </span>
              <span className="meta">{each.difference.toFixed(2)}</span>
              {each.subtask_id !== null && <Flag subtaskId={each.subtask_id} />}
              {each.subtask_id !== null && (
                <Link to="/subtasks/$id" params={{ id: each.subtask_id }}>
                  Subtask
                </Link>
              )}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

const idOf = ({ evaluation_id }: { evaluation_id: string }) => evaluation_id
const listEvaluations = () => muster.evaluations.list({ limit: 200 })

function Latest() {
  const list = useCallback(listEvaluations, [])
  const evaluations = useGrowingList(keys.list('evaluation', 'all'), list, idOf)
  return (
    <Panel title="Newest first" count={`${evaluations.items.length}${evaluations.hasMore ? '+' : ''}`} isFlush>
      <Loaded query={evaluations.query}>
        {() =>
          evaluations.items.length === 0 ? (
            <Empty
              curl={curlLine('/evaluations', { output: 'Done.', acceptance_criteria: ['All tests pass'] })}
              sdk={`await muster.evaluations.create({ output: 'Done.' })`}
            >
              Results are evaluated as they are stored. Any text can be evaluated as well:
            </Empty>
          ) : (
            <VirtualList label="Evaluations" items={evaluations.items} idOf={idOf} onEnd={evaluations.loadMore}>
              {(evaluation) => (
                <div className="list-row">
                  <Badge status={evaluation.recommendation} />
                  <span className="meta wide-only">{evaluation.score === null ? '–' : evaluation.score.toFixed(2)}</span>
                  {evaluation.subtask_id === null ? (
                    <span className="title">{evaluation.summary ?? evaluation.origin}</span>
                  ) : (
                    <Link className="title" to="/subtasks/$id" params={{ id: evaluation.subtask_id }}>
                      {evaluation.summary ?? evaluation.origin}
                    </Link>
                  )}
                  {evaluation.subtask_id !== null && <Flag subtaskId={evaluation.subtask_id} />}
                  <span className="wide-only">
                    <Time at={evaluation.created_at} />
                  </span>
                </div>
              )}
            </VirtualList>
          )
        }
      </Loaded>
    </Panel>
  )
}
