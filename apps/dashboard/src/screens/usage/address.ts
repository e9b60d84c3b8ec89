import type { UsageGrouping } from '@muster/client'

export const USAGE_GROUPINGS = ['day', 'agent', 'model', 'runner', 'task'] as const satisfies UsageGrouping[]
