import { queryOptions, useQuery } from '@tanstack/react-query'
import { Badge } from '../../design/badge.tsx'
import { Expandable } from '../../design/expandable.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Markdown } from '../../design/markdown.tsx'
import { Facts, Page } from '../../design/panel.tsx'
import { muster } from '../../muster.ts'
import { subagentsQuery } from './queries.ts'

const subagentQuery = (name: string) => queryOptions({ queryKey: ['subagents', name], queryFn: () => muster.subagents.get(name) })

/** Definitions of sub-agents: role, model and tools. */
export function Subagents() {
  const query = useQuery(subagentsQuery)
  return (
    <Page title="Sub-agents">
      <Loaded query={query}>
        {(subagents) => (
          <div className="stack">
            {subagents.map((subagent) => (
              <Expandable
                key={subagent.name}
                summary={
                  <>
                    {subagent.name} <span className="count">{subagent.model}</span>
                    <Badge status={subagent.source} />
                    <span className="hint grow">{subagent.description}</span>
                  </>
                }
              >
                <Definition name={subagent.name} />
              </Expandable>
            ))}
          </div>
        )}
      </Loaded>
    </Page>
  )
}

function Definition({ name }: { name: string }) {
  const query = useQuery(subagentQuery(name))
  return (
    <Loaded query={query}>
      {(subagent) => (
        <div className="stack">
          <Facts
            of={{
              Version: subagent.version,
              Tools: subagent.tools.join(', ') || 'none',
              Asks: subagent.ask.join(', ') || undefined,
              Runner: subagent.runner ?? 'none that is available',
              File: subagent.definition_path ?? undefined,
              Warnings: subagent.warnings.join(' ') || undefined,
            }}
          />
          <Markdown text={subagent.instructions} />
        </div>
      )}
    </Loaded>
  )
}
