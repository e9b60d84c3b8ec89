import type { FaultRun } from '../faults.ts'
import type { Findings } from '../findings.ts'
import type { Options } from '../options.ts'
import { FAULTS, type FaultKind, LONG_OUTAGE_MS } from '../plan.ts'

/** In so many minutes everything comes up that the load and the faults can bring about. */
const THOROUGH_FROM_MINUTES = 10

/** Kinds of faults that never happened. */
export function missingFaults({ records }: FaultRun, machines: boolean): FaultKind[] {
  const happened = new Set(records.filter((record) => record.wasDone).map((record) => record.fault.kind))
  return (Object.keys(FAULTS) as FaultKind[]).filter((kind) => !happened.has(kind) && (machines || kind !== 'partition'))
}

/** What was never looked at, and what never happened, has shown nothing: of a long run that counts as broken, of a short one the report tells. */
export function checkCoverage(
  { minutes, steady, only, machines }: Options,
  faults: FaultRun,
  absences: number,
  hasSmallDisk: boolean,
  findings: Findings,
): void {
  if (minutes < THOROUGH_FROM_MINUTES || only.length > 0) return
  const checks = findings.list()
  findings.none(
    'every check has had something to look at',
    checks.length,
    checks.filter((check) => check.lookedAt === 0).map((check) => check.promise),
  )
  if (steady) return
  const long = faults.outages.filter(({ fromMs, toMs }) => toMs - fromMs >= LONG_OUTAGE_MS)
  findings.none('every kind of fault has happened, and all actors have been away', Object.keys(FAULTS).length, [
    // A machine that mounts no small disk has no full one; the report says so.
    ...missingFaults(faults, machines)
      .filter((kind) => kind !== 'disk-full' || hasSmallDisk)
      .map((kind) => `${kind} never happened`),
    ...(long.length > 0 ? [] : [`PostgreSQL was never away for ${LONG_OUTAGE_MS / 1_000} s`]),
    ...(absences > 0 ? [] : ['followers and claimers were never away together']),
  ])
}
