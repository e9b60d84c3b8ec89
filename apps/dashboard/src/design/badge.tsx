export type Tone = 'neutral' | 'green' | 'red' | 'amber' | 'blue'

/** Every status of the API that is shown as a badge. What is missing is neutral. */
const TONES: Record<string, Tone> = {
  running: 'blue',
  in_progress: 'blue',
  assigned: 'blue',
  pending: 'neutral',
  waiting: 'amber',
  open: 'amber',
  in_review: 'amber',
  revision_requested: 'amber',
  review: 'amber',
  request_revision: 'red',
  blocked: 'red',
  completed: 'green',
  approve: 'green',
  met: 'green',
  active: 'green',
  answered: 'green',
  delivered: 'green',
  acknowledged: 'green',
  fired: 'green',
  ready: 'green',
  enabled: 'green',
  sending: 'blue',
  disabled: 'red',
  failed: 'red',
  unmet: 'red',
  expired: 'red',
  cancelled: 'neutral',
  unclear: 'amber',
  queued: 'amber',
  paused: 'amber',
}

const LIVE = new Set(['running', 'in_progress'])

/** A status in words and colour. */
export function Badge({ status, tone }: { status: string; tone?: Tone }) {
  return (
    <span className="badge" data-tone={tone ?? TONES[status] ?? 'neutral'} data-live={LIVE.has(status) ? '' : undefined}>
      {status.replaceAll('_', ' ')}
    </span>
  )
}
