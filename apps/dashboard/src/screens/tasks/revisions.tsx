import type { DiffPart, TaskRevision } from '@muster/client'
import { useQuery } from '@tanstack/react-query'
import { Loaded } from '../../design/loaded.tsx'
import { Panel } from '../../design/panel.tsx'
import { Time } from '../../design/time.tsx'
import { revisionsQuery } from './queries.ts'

/** Every revision of the brief, or those after one, newest first, with what it changed: before on the left, after on the right. */
export function Revisions({ id, after = 0 }: { id: string; after?: number }) {
  return (
    <Loaded query={useQuery(revisionsQuery(id))}>
      {(revisions) => (
        <div className="stack">
          {revisions
            .filter(({ revision }) => revision > after)
            .map((revision) => (
              <Revision key={revision.revision} revision={revision} />
            ))}
        </div>
      )}
    </Loaded>
  )
}

function Revision({ revision }: { revision: TaskRevision }) {
  return (
    <Panel title={`Revision ${revision.revision}`} count={`by ${revision.author.id}`} actions={<Time at={revision.created_at} />}>
      {revision.diff === null ? (
        <p className="hint">The first one.</p>
      ) : (
        <div className="stack">
          {Object.entries(revision.diff).map(([field, parts]) => (
            <div key={field} className="stack tight">
              <h3>{field.replaceAll('_', ' ')}</h3>
              <div className="side-by-side">
                <Side parts={parts.filter(({ op }) => op !== 'add')} />
                <Side parts={parts.filter(({ op }) => op !== 'remove')} />
              </div>
            </div>
          ))}
        </div>
      )}
    </Panel>
  )
}

function Side({ parts }: { parts: DiffPart[] }) {
  return (
    <pre className="code">
      {parts.map(({ op, text }, index) => {
        const Mark = op === 'add' ? 'ins' : op === 'remove' ? 'del' : 'span'
        // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place.
        return <Mark key={index}>{text}</Mark>
      })}
    </pre>
  )
}
