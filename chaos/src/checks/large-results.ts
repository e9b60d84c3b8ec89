import type { Evidence } from './check.ts'

const LARGE_BYTES = 65_536

/** Large results reach their session as small ones do: each once, and whole where they are claimed. */
export async function checkLargeResults({ admin, ledger, findings }: Evidence): Promise<void> {
  const rows = await admin<{ id: string; runner: string; bytes: number; claim_id: string | null; is_poor: boolean }[]>`
    select i.id, s.runner, octet_length(coalesce(b.bytes, convert_to(s.result, 'UTF8'))) as bytes, i.claim_id,
      exists (select from evaluations e where e.subtask_id = s.id and e.recommendation = 'request_revision') as is_poor
    from inbox i join subtasks s on s.id = i.subtask_id left join bodies b on b.id = s.result_body_id
    where octet_length(coalesce(b.bytes, convert_to(s.result, 'UTF8'))) >= ${LARGE_BYTES}`
  const deliveries = Map.groupBy(ledger.deliveries, (delivery) => delivery.inboxId)
  for (const [who, isOf] of [
    ['a program', (runner: string) => runner !== 'external'],
    ['an outside worker', (runner: string) => runner === 'external'],
  ] as const) {
    const large = rows.filter((row) => isOf(row.runner))
    findings.none(
      `a result of 64 KiB or more by ${who} is delivered once`,
      large.length,
      large
        .filter(
          (row) =>
            (deliveries.get(row.id) ?? []).filter(({ claimId, acknowledged }) => claimId === null || (acknowledged && claimId === row.claim_id)).length > 1,
        )
        .map((row) => `${row.id} with ${row.bytes} bytes`),
    )
  }
  // Of a poor one a summary comes instead.
  const claimed = rows
    .filter((row) => !row.is_poor)
    .flatMap((row) => (deliveries.get(row.id) ?? []).filter(({ resultBytes }) => resultBytes !== null).map(({ resultBytes }) => ({ row, resultBytes })))
  findings.none(
    'an inbox claim delivers a result of 64 KiB or more whole',
    claimed.length,
    claimed.filter(({ row, resultBytes }) => resultBytes !== row.bytes).map(({ row, resultBytes }) => `${row.id}: ${resultBytes} of ${row.bytes} bytes`),
  )
}
