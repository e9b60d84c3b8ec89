import { MusterError } from '@muster/client'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'

/** The content of a query, or what to say while there is none. What was read before stays visible while the server is away. */
export function Loaded<Data>({ query, children }: { query: UseQueryResult<Data>; children: (data: Data) => ReactNode }) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  if (query.error === null) return <p className="empty">Loading …</p>
  return <Problem error={query.error} onRetry={() => void query.refetch()} />
}

/** An error in words, with its id for a report. */
function Problem({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  return (
    <div className="empty" role="alert">
      <p className="problem">{error.message}</p>
      {error instanceof MusterError && error.requestId !== undefined && <p className="hint">Request {error.requestId}</p>}
      {onRetry !== undefined && (
        <p>
          <Button onClick={onRetry}>Try again</Button>
        </p>
      )}
    </div>
  )
}
