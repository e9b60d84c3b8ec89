import { MusterError } from '@muster/client'
import { QueryClient } from '@tanstack/react-query'
import { sessionQuery } from './session.ts'

/** What the screens have read. Where a key was revoked, the session is read again, and the page asks for another one. */
export function createQueryClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        // Events say what has changed; nothing is read again because time has passed.
        staleTime: Number.POSITIVE_INFINITY,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        retry: (count, error) => error instanceof MusterError && error.retryable && count < 100,
        retryDelay: (count) => Math.min(2_000, 250 * 2 ** count),
      },
    },
  })
  client.getQueryCache().subscribe(({ type, query }) => {
    if (type !== 'updated' || query.queryKey[0] === 'session') return
    if (query.state.error instanceof MusterError && query.state.error.is('unauthenticated')) void client.invalidateQueries(sessionQuery)
  })
  return client
}
