import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, createRouter, Link, lazyRouteComponent } from '@tanstack/react-router'
import { Page } from './design/panel.tsx'
import { readAuditFilters } from './screens/audit/filters.ts'
import { readDeliveryFilters } from './screens/deliveries/filters.ts'
import { SCORES_OF } from './screens/evaluations/address.ts'
import { readSubtaskPlace } from './screens/subtasks/address.ts'
import { readSubtaskFilters } from './screens/subtasks/filters.ts'
import { TASK_TABS } from './screens/tasks/address.ts'
import { readTaskFilters } from './screens/tasks/filters.ts'
import { USAGE_GROUPINGS } from './screens/usage/address.ts'
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
/** A choice or the words of a search, as the address has them; what it does not understand is left out. */
const readChoice =
  <const Name extends string, Choice extends string>(name: Name, choices: readonly Choice[]) =>
  (search: Record<string, unknown>) => {
    const found = choices.find((each) => each === search[name])
    return (found === undefined ? {} : { [name]: found }) as { [Key in Name]?: Choice }
  }
const readWords = ({ q }: Record<string, unknown>): { q?: string } => ((typeof q === 'string' || typeof q === 'number') && q !== '' ? { q: String(q) } : {})

const taskRoute = createRoute({
  getParentRoute: () => root,
  path: '/tasks/$id',
  validateSearch: readChoice('tab', Object.keys(TASK_TABS) as (keyof typeof TASK_TABS)[]),
  component: lazyRouteComponent(() => import('./screens/tasks/task.tsx'), 'TaskScreen'),
})
const evaluationsRoute = createRoute({
  getParentRoute: () => root,
  path: '/evaluations',
  validateSearch: readChoice('by', Object.keys(SCORES_OF) as (keyof typeof SCORES_OF)[]),
  component: lazyRouteComponent(() => import('./screens/evaluations/evaluations.tsx'), 'Evaluations'),
})
const usageRoute = createRoute({
  getParentRoute: () => root,
  path: '/usage',
  validateSearch: readChoice('by', USAGE_GROUPINGS),
  component: lazyRouteComponent(() => import('./screens/usage/usage.tsx'), 'Usage'),
})
const guidesRoute = createRoute({
  getParentRoute: () => root,
  path: '/guides',
  validateSearch: readWords,
  component: lazyRouteComponent(() => import('./screens/guides/guides.tsx'), 'Guides'),
})
const memoryRoute = createRoute({
  getParentRoute: () => root,
  path: '/memory',
  validateSearch: readWords,
  component: lazyRouteComponent(() => import('./screens/memory/memory.tsx'), 'Memory'),
})
const eventsRoute = createRoute({
  getParentRoute: () => root,
  path: '/events',
  validateSearch: readWords,
  component: lazyRouteComponent(() => import('./screens/events/events.tsx'), 'Events'),
})

const routeTree = root.addChildren([
  route('/', () => import('./screens/now/now.tsx'), 'Now'),
  subtasksRoute,
  route('/subtasks/new', () => import('./screens/subtasks/new-subtask.tsx'), 'NewSubtask'),
  subtaskRoute,
  tasksRoute,
  route('/tasks/new', () => import('./screens/tasks/new-task.tsx'), 'NewTask'),
  taskRoute,
  route('/schedules', () => import('./screens/schedules/schedules.tsx'), 'Schedules'),
  auditRoute,
  eventsRoute,
  memoryRoute,
  route('/subagents', () => import('./screens/subagents/subagents.tsx'), 'Subagents'),
  guidesRoute,
  route('/workers', () => import('./screens/workers/workers.tsx'), 'Workers'),
  evaluationsRoute,
  route('/settings', () => import('./screens/settings/settings.tsx'), 'Settings'),
  route('/webhooks', () => import('./screens/webhooks/webhooks.tsx'), 'Webhooks'),
  deliveriesRoute,
  route('/deliveries/$id', () => import('./screens/deliveries/delivery.tsx'), 'DeliveryScreen'),
  usageRoute,
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
