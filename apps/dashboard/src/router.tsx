import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, createRouter, Link, lazyRouteComponent } from '@tanstack/react-router'
import { Page } from './design/panel.tsx'
import { readAuditFilters } from './screens/audit/filters.ts'
import { readDeliveryFilters } from './screens/deliveries/filters.ts'
import { readSubtaskPlace } from './screens/subtasks/address.ts'
import { readSubtaskFilters } from './screens/subtasks/filters.ts'
import { readTaskFilters } from './screens/tasks/filters.ts'
import { Shell } from './shell/shell.tsx'

const root = createRootRouteWithContext<{ client: QueryClient }>()({
  component: Shell,
  notFoundComponent: () => (
    <Page title="Not found">
      <p>
        There is no such page. <Link to="/">Back to what runs now</Link>
      </p>
    </Page>
  ),
})

const route = <const Path extends string>(path: Path, load: () => Promise<Record<string, unknown>>, name: string) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load as () => Promise<Record<string, React.ComponentType>>, name) })

const subtasksRoute = createRoute({
  getParentRoute: () => root,
  path: '/subtasks',
  validateSearch: readSubtaskFilters,
  component: lazyRouteComponent(() => import('./screens/subtasks/subtasks.tsx'), 'Subtasks'),
})
const subtaskRoute = createRoute({
  getParentRoute: () => root,
  path: '/subtasks/$id',
  validateSearch: readSubtaskPlace,
  component: lazyRouteComponent(() => import('./screens/subtasks/subtask.tsx'), 'SubtaskScreen'),
})

const tasksRoute = createRoute({
  getParentRoute: () => root,
  path: '/tasks',
  validateSearch: readTaskFilters,
  component: lazyRouteComponent(() => import('./screens/tasks/tasks.tsx'), 'Tasks'),
})

const auditRoute = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  validateSearch: readAuditFilters,
  component: lazyRouteComponent(() => import('./screens/audit/audit.tsx'), 'Audit'),
})
const deliveriesRoute = createRoute({
  getParentRoute: () => root,
  path: '/deliveries',
  validateSearch: readDeliveryFilters,
  component: lazyRouteComponent(() => import('./screens/deliveries/deliveries.tsx'), 'Deliveries'),
})
const guidesRoute = createRoute({
  getParentRoute: () => root,
  path: '/guides',
  validateSearch: ({ q }: Record<string, unknown>): { q?: string } => (typeof q === 'string' && q !== '' ? { q } : {}),
  component: lazyRouteComponent(() => import('./screens/guides/guides.tsx'), 'Guides'),
})

const routeTree = root.addChildren([
  route('/', () => import('./screens/now/now.tsx'), 'Now'),
  subtasksRoute,
  route('/subtasks/new', () => import('./screens/subtasks/new-subtask.tsx'), 'NewSubtask'),
  subtaskRoute,
  tasksRoute,
  route('/tasks/new', () => import('./screens/tasks/new-task.tsx'), 'NewTask'),
  route('/tasks/$id', () => import('./screens/tasks/task.tsx'), 'TaskScreen'),
  route('/schedules', () => import('./screens/schedules/schedules.tsx'), 'Schedules'),
  auditRoute,
  route('/events', () => import('./screens/events/events.tsx'), 'Events'),
  route('/memory', () => import('./screens/memory/memory.tsx'), 'Memory'),
  route('/subagents', () => import('./screens/subagents/subagents.tsx'), 'Subagents'),
  guidesRoute,
  route('/workers', () => import('./screens/workers/workers.tsx'), 'Workers'),
  route('/evaluations', () => import('./screens/evaluations/evaluations.tsx'), 'Evaluations'),
  route('/settings', () => import('./screens/settings/settings.tsx'), 'Settings'),
  route('/webhooks', () => import('./screens/webhooks/webhooks.tsx'), 'Webhooks'),
  deliveriesRoute,
  route('/deliveries/$id', () => import('./screens/deliveries/delivery.tsx'), 'DeliveryScreen'),
  route('/usage', () => import('./screens/usage/usage.tsx'), 'Usage'),
  route('/questions', () => import('./screens/questions/questions.tsx'), 'Questions'),
])

export function createDashboardRouter(client: QueryClient) {
  return createRouter({ routeTree, basepath: '/ui', context: { client }, scrollRestoration: true, defaultPreload: 'intent' })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createDashboardRouter>
  }
}
