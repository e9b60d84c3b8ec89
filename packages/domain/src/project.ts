import { z } from 'zod'

const limit = z.int().min(0).max(10_000_000)

/** Settings of a project, as they are stored. Absent fields fall back to the server's own. */
export const projectSettingsSchema = z.strictObject({
  limits: z
    .strictObject({
      pending_per_agent: limit.optional(),
      running_per_agent: limit.optional(),
      agents: z.record(z.string().min(1).max(128), z.strictObject({ pending: limit.optional(), running: limit.optional() })).optional(),
    })
    .optional(),
})

export type ProjectSettings = z.infer<typeof projectSettingsSchema>

/** The project that exists from the first migration on, for installations that need only one. */
export const DEFAULT_PROJECT_ID = '00000000-0000-7000-8000-000000000001'

export interface Project {
  id: string
  name: string
  settings: ProjectSettings
  createdAt: Date
}
