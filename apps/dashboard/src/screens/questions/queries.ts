import { queryOptions } from '@tanstack/react-query'
import { keys } from '../../live/refresh.ts'
import { muster } from '../../muster.ts'

/** Open questions are few: a person answers them. */
const MOST = 500

export const openQuestionsQuery = queryOptions({
  queryKey: keys.list('question', 'open'),
  queryFn: () => muster.questions.list({ status: 'open', limit: 200 }).all(MOST),
})

export const closedQuestionsQuery = queryOptions({
  queryKey: keys.list('question', 'closed'),
  queryFn: async () => (await muster.questions.list({ limit: 100 }).page()).items.filter(({ status }) => status !== 'open'),
})
