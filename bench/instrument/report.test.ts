import { describe, expect, it } from 'vitest'
import { atMost, judge, Rows, timesPeer } from './figure.ts'
import { type FigureReport, type Report, renderTable } from './report.ts'

function rows() {
  const collected = new Rows()
  for (const [ours, peer] of [
    [2, 4],
    [9, 5],
    [4, 6],
  ] as const) {
    const row = { label: 'start', unit: 'ms', better: 'lower', goal: atMost(5, 'ms') } as const
    collected.add(row, null, ours)
    collected.add(row, 'peer', peer)
  }
  return collected.list()
}

function reportOf(figure: Partial<FigureReport> & { name: string }, differing: Partial<Report> = {}): Report {
  return {
    startedAt: '2026-01-01T00:00:00.000Z',
    isQuick: false,
    runs: 3,
    machine: { processors: 2, model: 'A processor', memoryGb: 8, loadAtStart: [0.5, 0.4, 0.3] },
    versions: { node: '24.0.0', commit: 'abc1234', 'pg-boss': '12.0.0', 'graphile-worker': '0.18.0', fastify: '5.0.0' },
    postgres: { server_version: '18.0', fsync: 'on', synchronous_commit: 'on' },
    commit: { p50: 0.4, p99: 1.2, commits: 100 },
    figures: [{ title: '', raised: '', notes: [], rows: rows().map((row) => judge(row, true)), error: null, missingPeers: [], seconds: 1, ...figure }],
    ...differing,
  }
}

describe('a judged row', () => {
  it('has the values of all runs beside their medians, and survives a file', () => {
    const [judged] = rows().map((row) => judge(row, true))

    expect(JSON.parse(JSON.stringify(judged))).toEqual({
      ...{ label: 'start', unit: 'ms', better: 'lower', goal: '≤ 5 ms', ours: [2, 9, 4], peers: { peer: [4, 5, 6] } },
      medians: { ours: 4, peers: { peer: 5 }, ratios: { peer: 1.25 }, met: true },
    })
  })

  it('misses a goal that is held against a peer who could not be measured', () => {
    const [row] = rows()

    expect(judge({ ...row, better: 'higher', goal: timesPeer(1, 'absent') } as Parameters<typeof judge>[0], true).medians.met).toBe(false)
  })

  it('says nothing of its goal at smaller sizes', () => {
    expect(rows().map((row) => judge(row, false).medians.met)).toEqual([null])
  })
})

describe('the table', () => {
  it('has a line for each row, and says once what holds for all reports', () => {
    const table = renderTable([
      reportOf({ name: 'one' }),
      reportOf({ name: 'two', notes: ['the peer is slow'] }, { commit: { p50: 0.5, p99: 1.2, commits: 90 } }),
    ])

    expect(table.split('\n')).toEqual([
      '| figure | ours | peers (ratio; above 1: ours is better) | goal   | met |',
      '|--------|------|----------------------------------------|--------|-----|',
      '| start  | 4 ms | peer 5 (×1.25)                         | ≤ 5 ms | yes |',
      '| start  | 4 ms | peer 5 (×1.25)                         | ≤ 5 ms | yes |',
      '',
      '2 × A processor, 8 GB; Node 24.0.0, PostgreSQL 18.0, fsync on, synchronous_commit on.',
      'Load 0.50 at the start; one small commit: p50 0.40 to 0.50 ms, p99 1.20 ms.',
      'Medians of 3 runs. pg-boss 12.0.0, graphile-worker 0.18.0, fastify 5.0.0. Version abc1234.',
      'To be known of single figures:',
      '- two: the peer is slow',
      'Raised above what is shipped:',
      '- one: nothing',
      '- two: nothing',
    ])
  })

  it('names the figures where reports differ', () => {
    const table = renderTable([reportOf({ name: 'one' }), reportOf({ name: 'two' }, { runs: 1, isQuick: true })])

    expect(table).toContain('\none: Medians of 3 runs. ')
    expect(table).toContain('\ntwo: Medians of 1 run, small sizes (--quick)')
  })

  it('shows what could not be measured', () => {
    const table = renderTable([reportOf({ name: 'one', rows: [], error: 'no room|left\nat here', missingPeers: ['peer'] })])

    expect(table).toContain('| one    | FAILED | no room/left ')
    expect(table).toContain('Not every run of one has its peers: could not measure peer.')
  })
})
