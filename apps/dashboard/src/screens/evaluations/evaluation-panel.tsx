import type { Evaluation } from '@muster/client'
import { Badge } from '../../design/badge.tsx'
import { Panel } from '../../design/panel.tsx'
import { TableScroll } from '../../design/table-scroll.tsx'
import { Time } from '../../design/time.tsx'

const METHODS: Record<string, string> = {
  check_in: 'the agent’s own word',
  schema: 'its schema',
  check: 'a check',
  judge: 'a judge',
  person: 'a person',
}

/** One judgement: its score, and for each criterion the verdict, what it rests on and the evidence. */
export function EvaluationPanel({ evaluation }: { evaluation: Evaluation }) {
  const { criteria, warnings, reflection, criteria_revision: revision } = evaluation
  const title = (
    <span className="row">
      <Badge status={evaluation.recommendation} />
      {evaluation.score === null ? 'no score' : evaluation.score.toFixed(2)}
    </span>
  )
  return (
    <Panel
      title={title}
      count={revision === null ? evaluation.origin : `${evaluation.origin}, criteria of revision ${revision}`}
      actions={<Time at={evaluation.created_at} />}
      isFlush
    >
      {criteria.length > 0 && <Verdicts criteria={criteria} />}
      <div className="panel-body stack">
        {criteria.length === 0 && <p className="hint">There were no criteria to evaluate it by.</p>}
        {reflection.items.length > 0 && (
          <ul className="list">
            {reflection.items.map((item, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: items have no id, and never change.
              <li key={index}>
                <span>{item.emoji}</span>
                <span className="grow">{item.text}</span>
              </li>
            ))}
          </ul>
        )}
        {warnings.map((warning) => (
          <p key={warning.message} className="hint">
            {warning.message}
          </p>
        ))}
      </div>
    </Panel>
  )
}

function Verdicts({ criteria }: { criteria: Evaluation['criteria'] }) {
  return (
    <TableScroll label="Verdicts">
      <table>
        <thead>
          <tr>
            <th scope="col">Criterion</th>
            <th scope="col">Verdict</th>
            <th scope="col">Rests on</th>
            <th scope="col">Evidence</th>
          </tr>
        </thead>
        <tbody>
          {criteria.map((criterion) => (
            <tr key={criterion.id}>
              <td>{criterion.text}</td>
              <td>
                <Badge status={criterion.verdict} />
              </td>
              <td>{criterion.method === null ? '–' : METHODS[criterion.method]}</td>
              <td>
                <pre>{criterion.evidence}</pre>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  )
}
