import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './design/tokens.css'
import './design/base.css'
import './design/layout.css'
import './design/controls.css'
import './design/data.css'
import './design/work.css'
import { MusterError } from '@muster/client'
import { startTheme } from './design/theme.ts'
import { Toasts } from './design/toasts.tsx'
import { createDashboardRouter } from './router.tsx'
import { followSession, sessionQuery } from './session/session.ts'

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

// A key that has been revoked: the page asks for another one.
client.getQueryCache().subscribe(({ type, query }) => {
  if (type !== 'updated' || query.queryKey[0] === 'session') return
  if (query.state.error instanceof MusterError && query.state.error.is('unauthenticated')) void client.invalidateQueries(sessionQuery)
})

startTheme()
followSession(client)
const router = createDashboardRouter(client)

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
      <Toasts />
    </QueryClientProvider>
  </StrictMode>,
)
