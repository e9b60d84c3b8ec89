import { createHash, randomBytes } from 'node:crypto'
import { connect } from '@muster/db'
import { DEFAULT_PROJECT_ID, type ProjectSettings } from '@muster/domain'
import { createBoss, ensureRunQueues } from '@muster/jobs'
import type postgres from 'postgres'

/** What the server allows an agent whose project says nothing. */
export const SERVER_LIMITS = { running: 4, pending: 10_000 } as const

/** Agents of every project; each but the last has a limit of its own. */
export const AGENTS = ['narrow', 'small', 'picky', 'wide'] as const
export type AgentName = (typeof AGENTS)[number]

/** The agent with a budget, in one project. Each of its subtasks reserves a tenth, and `quick` uses far less of it. */
export const FRUGAL = { agent: 'frugal', tenant: 'third', budgetTokens: 100_000, usedTokens: 20 } as const

const SETTINGS: ProjectSettings = {
  limits: { agents: { narrow: { running: 1 }, small: { running: 2 }, picky: { running: 2, pending: 3 } } },
}

const FRUGAL_SETTINGS: ProjectSettings = {
  ...SETTINGS,
  limits: { agents: { ...SETTINGS.limits?.agents, [FRUGAL.agent]: { budget: { total: { tokens: FRUGAL.budgetTokens } } } } },
}

export function runningLimit(agent: string): number {
  return SETTINGS.limits?.agents?.[agent]?.running ?? SERVER_LIMITS.running
}

export function pendingLimit(agent: string): number {
  return SETTINGS.limits?.agents?.[agent]?.pending ?? SERVER_LIMITS.pending
}

/** A project with the key that may do everything in it. */
export interface Tenant {
  name: string
  projectId: string
  key: string
}

const OTHER_PROJECTS = [
  ['second', '00000000-0000-7000-8000-000000000002'],
  ['third', '00000000-0000-7000-8000-000000000003'],
] as const

/** A project for the clients whose keys are revoked, and for no other load. */
const REVOKING_PROJECT = ['revoking', '00000000-0000-7000-8000-000000000004'] as const

export interface Tenants {
  /** Projects that the load is put on. */
  tenants: Tenant[]
  revoking: Tenant
}

export async function createTenants(admin: postgres.Sql, appUrl: string, receiverHost: string): Promise<Tenants> {
  const tenants: Tenant[] = []
  const database = connect(appUrl, { role: 'muster_dispatch', connectionsMax: 1, applicationName: 'muster-chaos-setup' })
  const boss = createBoss(database, { supervise: false, onWarning: () => {}, onError: () => {} })
  try {
    for (const [name, projectId] of [['default', DEFAULT_PROJECT_ID] as const, ...OTHER_PROJECTS, REVOKING_PROJECT]) {
      const settings = { ...(name === FRUGAL.tenant ? FRUGAL_SETTINGS : SETTINGS), outbound_allow: [receiverHost] }
      await admin`
        insert into projects (id, name, settings) values (${projectId}, ${name}, ${JSON.stringify(settings)}::text::jsonb)
        on conflict (id) do update set settings = excluded.settings`
      await ensureRunQueues(boss, projectId, ['external'])
      const key = `mst_key_${randomBytes(32).toString('base64url')}`
      await admin`
        insert into api_keys (project_id, id, name, key_hash, key_prefix, scopes)
        values (${projectId}, gen_random_uuid(), 'chaos', ${createHash('sha256').update(key).digest()}, ${key.slice(0, 12)}, '{admin}')`
      tenants.push({ name, projectId, key })
    }
  } finally {
    await database.close()
  }
  return { tenants: tenants.slice(0, -1), revoking: tenants.at(-1) as Tenant }
}
