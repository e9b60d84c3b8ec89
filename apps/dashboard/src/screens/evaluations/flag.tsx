import type { Quality } from '@muster/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { showError, toasts } from '../../design/toasts.tsx'
import { muster } from '../../muster.ts'

const QUALITIES = ['excellent', 'good', 'needs_work', 'bad'] as const satisfies Quality[]

/** What a person thinks of an output. `excellent` and `good` make it a training example. */
export function Flag({ subtaskId }: { subtaskId: string }) {
  const client = useQueryClient()
  const flagging = useMutation({
    mutationFn: (quality: Quality) => muster.subtasks.flagQuality(subtaskId, { quality }),
    onSuccess: (_, quality) => {
      toasts.add({ title: `Flagged as ${quality.replaceAll('_', ' ')}.` })
      // A flag writes no event.
      void client.invalidateQueries({ queryKey: ['evaluation'] })
    },
    onError: showError,
  })
  return (
    <select className="input" aria-label="Flag the quality" value="" onChange={(event) => flagging.mutate(event.target.value as Quality)}>
      <option value="" disabled>
        Flag
      </option>
      {QUALITIES.map((quality) => (
        <option key={quality} value={quality}>
          {quality.replaceAll('_', ' ')}
        </option>
      ))}
    </select>
  )
}
