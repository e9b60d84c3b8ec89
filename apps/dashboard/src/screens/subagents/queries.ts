import { queryOptions } from '@tanstack/react-query'
import { muster } from '../../muster.ts'

export const subagentsQuery = queryOptions({ queryKey: ['subagents'], queryFn: () => muster.subagents.list({ limit: 200 }).all(1_000) })
