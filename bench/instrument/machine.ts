import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { cpus, loadavg, release, type as systemType, totalmem } from 'node:os'
import type postgres from 'postgres'
import { machineMs } from './clock.ts'
import { median, percentile } from './statistics.ts'

/** What the figures were taken on. */
export function describeMachine(): Record<string, unknown> {
  const processors = cpus()
  return {
    processors: processors.length,
    model: processors[0]?.model.trim(),
    memoryGb: Math.round(totalmem() / 1e9),
    system: `${systemType()} ${release()}`,
    // If the load is higher than our own processes explain, other work shares this machine and the figures are less reliable.
    loadAtStart: loadavg().map((load) => Math.round(load * 100) / 100),
  }
}

/** Versions of everything that is compared. */
export function describeVersions(): Record<string, string> {
  const require = createRequire(import.meta.url)
  const versionOf = (name: string): string => {
    // Not through `require('…/package.json')`, which a package need not export.
    const start = require.resolve(name)
    for (let folder = start; folder !== '/'; folder = folder.slice(0, folder.lastIndexOf('/')) || '/') {
      try {
        const found = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as { name?: string; version?: string }
        if (found.name === name && found.version !== undefined) return found.version
      } catch {}
    }
    return 'unknown'
  }
  const commit = spawnSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' })
  return {
    node: process.versions.node,
    commit: commit.status === 0 ? commit.stdout.trim() : 'unknown',
    ...Object.fromEntries(['pg-boss', 'graphile-worker', 'fastify', 'autocannon', 'postgres'].map((name) => [name, versionOf(name)])),
  }
}

/** What one small commit costs on this disk, in milliseconds: the floor of everything that promises durability. */
export async function measureCommit(sql: postgres.Sql, seconds: number): Promise<{ p50: number; p99: number; commits: number }> {
  const connection = await sql.reserve()
  try {
    await connection`create table if not exists public.muster_bench_commit (n int)`
    const tookMs: number[] = []
    const untilMs = machineMs() + seconds * 1_000
    while (machineMs() < untilMs) {
      const startMs = machineMs()
      await connection`insert into public.muster_bench_commit values (1)`
      tookMs.push(machineMs() - startMs)
    }
    return { p50: median(tookMs), p99: percentile(tookMs, 0.99), commits: tookMs.length }
  } finally {
    await connection`drop table if exists public.muster_bench_commit`
    connection.release()
  }
}
