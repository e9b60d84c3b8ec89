import { queryOptions } from '@tanstack/react-query'
import { keys } from '../../live/refresh.ts'
import { muster } from '../../muster.ts'

export const guidesQuery = (q: string) =>
  queryOptions({ queryKey: keys.list('tsg', q), queryFn: () => muster.guides.list({ limit: 200, ...(q === '' ? {} : { q }) }).all(1_000) })

/** A guide with its contents, and how often it was announced, read and helpful. */
export const guideQuery = (id: string) =>
  queryOptions({
    queryKey: keys.one('tsg', id),
    queryFn: async () => {
      const [guide, usage] = await Promise.all([muster.guides.get(id), muster.guides.usage(id)])
      return { guide, usage }
    },
  })
