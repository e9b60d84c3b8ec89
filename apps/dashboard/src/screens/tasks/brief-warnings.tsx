import { type BodyOf, MusterError } from '@muster/client'
import { useQuery } from '@tanstack/react-query'
import { useDeferredValue } from 'react'
import { muster } from '../../muster.ts'

/** What the server says about a brief while it is typed: problems that would refuse it, and warnings that would not. Nothing is stored. */
export function BriefWarnings({ brief }: { brief: BodyOf<'validateTask'> }) {
  const shown = useDeferredValue(JSON.stringify(brief))
  const query = useQuery({
    queryKey: ['validate', shown],
    queryFn: ({ signal }) => muster.tasks.validate(JSON.parse(shown) as BodyOf<'validateTask'>, { signal }),
    placeholderData: (before) => before,
    gcTime: 10_000,
    retry: false,
  })
  const problems = query.error instanceof MusterError ? (query.error.problem?.errors ?? []) : []
  return (
    <div aria-live="polite" className="stack tight">
      {problems.map(({ field, reason }) => (
        <p key={field + reason} className="problem">
          {field}: {reason}
        </p>
      ))}
      {query.data?.warnings.map(({ field, message }) => (
        <p key={field + message} className="hint">
          {field}: {message}
        </p>
      ))}
    </div>
  )
}
