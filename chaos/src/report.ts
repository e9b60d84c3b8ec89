import { writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { missingFaults } from './checks/coverage.ts'
import type { Findings } from './findings.ts'
import { describeMachine } from './machines.ts'
import type { Options } from './options.ts'
import { FAULTS, type FaultKind } from './plan.ts'
import { summarize } from './recoveries.ts'
import type { RunResult } from './run.ts'
import type { System } from './system.ts'

/** The outcome of a run, as it is written down. */
export function makeReport(options: Options, system: System, result: RunResult, findings: Findings) {
  const { load, faults, sampler, recoveries, growth } = result
  const { ledger, client } = load
  const byKind: Partial<Record<FaultKind, number>> = {}
  for (const { fault, wasDone } of faults.records) if (wasDone) byKind[fault.kind] = (byKind[fault.kind] ?? 0) + 1
  const firstSample = growth?.samples[0]
  const lastSample = growth?.samples.at(-1)
  return {
    command: `pnpm chaos --minutes ${options.minutes} --seed ${options.seed} --workers ${options.workers} --apis ${options.apis} --rate ${options.rate}${options.steady ? ' --steady' : ''}${options.machines ? ' --machines' : ''}`,
    finishedAt: new Date().toISOString(),
    machine: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`,
    passed: findings.violations === 0,
    violations: findings.violations,
    accepted: ledger.count('accepted'),
    refused: ledger.count('refused'),
    unknown: ledger.count('unknown'),
    ended: sampler.counts.ended,
    cancels: ledger.cancels.length,
    updates: ledger.notes.length,
    outsideClaims: ledger.claims.length,
    inboxDeliveries: ledger.deliveries.length,
    briefs: ledger.briefs.filter((brief) => brief.state === 'accepted').length,
    briefMoves: ledger.briefs.reduce((sum, brief) => sum + brief.moves.filter((move) => move.isAccepted).length, 0),
    briefChanges: ledger.changes.filter((change) => change.state === 'accepted').length,
    injections: ledger.injections.length,
    delivered: ledger.injections.reduce((sum, injection) => sum + injection.items.length, 0),
    webhookDeliveries: result.webhooks.deliveries,
    webhookRepetitions: result.webhooks.repetitions,
    eventsFollowed: load.followers.reduce((sum, follower) => sum + follower.seen.length, 0),
    followerReconnects: load.followers.reduce((sum, follower) => sum + follower.reconnects, 0),
    answers: Object.fromEntries([...client.statuses].sort()),
    faults: byKind,
    faultsWithoutEffect: faults.records.filter((record) => !record.wasDone).length,
    databaseAwaySeconds: Math.round(faults.outages.reduce((sum, outage) => sum + outage.toMs - outage.fromMs, 0) / 1000),
    recoveries: {
      'worker killed until its work was taken': summarize(recoveries.takenMs),
      'worker killed until its work ran again': summarize(recoveries.runAgainMs),
      'PostgreSQL back until an API answered 2xx': summarize(recoveries.apiMs),
    },
    drainedInSeconds: Math.round(result.drainedInMs / 100) / 10,
    memoryMaxMib: Object.fromEntries([...sampler.memoryMaxMib].map(([name, mib]) => [name, Math.round(mib)])),
    connectionsMax: sampler.connectionsMax,
    workspacesLeft: result.workspacesLeft,
    machines: system.machines.map((machine) => {
      const process = [...system.apis, ...system.workers].find(({ name }) => name === machine.name)
      const partitions = process?.partitions ?? []
      const partitionedMs = partitions.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)
      return {
        what: describeMachine(machine),
        ...result.traffic.get(machine.name),
        partitions: partitions.length,
        partitionedSeconds: Math.round(partitionedMs / 1000),
      }
    }),
    absences: load.absences.count,
    missingFaults: options.steady ? [] : missingFaults(faults, options.machines),
    emptyChecks: findings.list().flatMap((check) => (check.lookedAt === 0 ? [check.promise] : [])),
    growth: growth === null ? null : { first: firstSample, last: lastSample, liveMib: growth.liveMib },
    checks: findings.list(),
  }
}

export type Report = ReturnType<typeof makeReport>

export function renderReport(report: Report): string {
  const lines = [
    `**${report.passed ? 'Passed' : `Failed: ${report.violations} violations`}** · \`${report.command}\` · ${report.finishedAt.slice(0, 10)} · ${report.machine}`,
    '',
    `Accepted ${report.accepted}, refused ${report.refused}, never answered ${report.unknown}; ended ${report.ended}; ${report.cancels} cancels, ${report.updates} updates, ` +
      `${report.outsideClaims} claims of outside workers, ${report.inboxDeliveries} inbox deliveries, ${report.eventsFollowed} events read by followers that reconnected ${report.followerReconnects} times.`,
    '',
    `${report.briefs} briefs, given away, run or ended ${report.briefMoves} times and changed ${report.briefChanges} times; ` +
      `${report.injections} injections with anything new brought ${report.delivered} assignments and changes.`,
    '',
    `${report.webhookDeliveries} deliveries reached webhooks, ${report.webhookRepetitions} of them more than once.`,
    '',
    `Answers: ${Object.entries(report.answers)
      .map(([status, count]) => `${status} × ${count}`)
      .join(', ')}.`,
    '',
    ...(Object.keys(report.faults).length === 0
      ? ['No faults.']
      : ['| fault | times |', '|---|---|', ...Object.entries(report.faults).map(([kind, count]) => `| ${FAULTS[kind as FaultKind]} | ${count} |`)]),
    '',
    `PostgreSQL was away for ${report.databaseAwaySeconds} s in all. ${report.faultsWithoutEffect} faults found nothing to break.${
      report.missingFaults.length === 0 ? '' : ` Never happened: ${report.missingFaults.map((kind) => FAULTS[kind]).join('; ')}.`
    }`,
    '',
    `Followers and claimers were all away ${report.absences} times. Workspaces of killed workers that are left: ${report.workspacesLeft}.`,
    ...(report.emptyChecks.length === 0 ? [] : ['', `Nothing to look at had: ${report.emptyChecks.join('; ')}.`]),
    '',
    ...(report.machines.length === 0
      ? []
      : [
          '| machine | frames | lost | partitions | away, s |',
          '|---|---|---|---|---|',
          ...report.machines.map((each) => `| ${each.what} | ${each.frames} | ${each.lost} | ${each.partitions} | ${each.partitionedSeconds} |`),
          '',
        ]),
    '| recovery | |',
    '|---|---|',
    ...Object.entries(report.recoveries).map(([what, time]) => `| ${what} | ${time} |`),
    `| everything at rest after the load ended | ${report.drainedInSeconds} s |`,
    '',
    `Most memory: ${Object.entries(report.memoryMaxMib)
      .map(([name, mib]) => `${name} ${mib} MiB`)
      .join(', ')}. Most connections: ${report.connectionsMax}.`,
    '',
    ...growthLines(report),
    '| promise | looked at | broken |',
    '|---|---|---|',
    ...report.checks.map((check) => `| ${check.promise} | ${check.lookedAt} | ${check.broken} |`),
    '',
  ]
  for (const check of report.checks.filter(({ broken }) => broken > 0)) lines.push(`${check.promise}:`, '', ...check.details.map((detail) => `- ${detail}`), '')
  return lines.join('\n')
}

function growthLines({ growth }: Report): string[] {
  if (growth?.first === undefined || growth.last === undefined) return []
  const { first, last, liveMib } = growth
  const mib = (bytes: number) => (bytes / 1_048_576).toFixed(1)
  const early = new Map(first.tables.map((table) => [table.name, table]))
  return [
    '| process | resident at first, MiB | resident at last, MiB | in use, look by look, MiB |',
    '|---|---|---|---|',
    ...Object.entries(last.memoryMib).map(
      ([name, value]) =>
        `| ${name} | ${first.memoryMib[name]?.toFixed(0) ?? '–'} | ${value.toFixed(0)} | ${(liveMib[name] ?? []).map((mib) => mib.toFixed(1)).join(' → ')} |`,
    ),
    `| connections | ${first.connections} | ${last.connections} | |`,
    '',
    '| table | rows | dead rows | table, MiB | indexes, MiB |',
    '|---|---|---|---|---|',
    ...last.tables
      .filter((table) => table.live + table.dead > 0)
      .map((table) => {
        const before = early.get(table.name)
        return `| ${table.name} | ${before?.live ?? 0} → ${table.live} | ${table.dead} | ${mib(before?.bytes ?? 0)} → ${mib(table.bytes)} | ${mib(before?.indexBytes ?? 0)} → ${mib(table.indexBytes)} |`
      }),
    '',
  ]
}

export async function writeReport(path: string, report: Report): Promise<void> {
  const base = path.replace(/\.(json|md)$/, '')
  await writeFile(`${base}.json`, `${JSON.stringify(report, null, 2)}\n`)
  await writeFile(`${base}.md`, renderReport(report))
}
