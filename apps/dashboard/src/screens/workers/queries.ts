import { queryOptions } from '@tanstack/react-query'
import { muster } from '../../muster.ts'

export const runnersQuery = queryOptions({ queryKey: ['runners'], queryFn: () => muster.server.runners() })
