import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './design/tokens.css'
import './design/base.css'
import './design/layout.css'
import './design/controls.css'
import './design/data.css'
import './design/work.css'
import { startTheme } from './design/theme.ts'
import { Toasts } from './design/toasts.tsx'
import { createDashboardRouter } from './router.tsx'
import { createQueryClient } from './session/query-client.ts'
import { followSession } from './session/session.ts'

const client = createQueryClient()
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
