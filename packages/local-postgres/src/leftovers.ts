import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type DataFolder, otherOwner, type ServerRecord } from './data-folder.ts'
import { LocalPostgresError } from './errors.ts'
import { commandOf, identifyProcess, isAlive, processesIn, signalProcess, waitUntil } from './processes.ts'

/** How long an abandoned server may take to write its data, and its processes to notice that it is gone. */
const FAST_SHUTDOWN_MS = 20_000
const NOTICE_MS = 5_000

/**
 * Prepares a start after everything was killed. A PostgreSQL that outlived the process that started it is shut down, not reused: its settings may
 * differ from those wanted now, and no process uses it.
 *
 * @throws LocalPostgresError `already_running` while the process that started it is alive
 */
export async function endLeftovers(folder: DataFolder, record: ServerRecord | undefined, log: (line: string) => void): Promise<void> {
  const postmaster = await runningPostmaster(folder)
  const owner = otherOwner(record)
  if (owner !== undefined || (postmaster !== undefined && record?.owner?.pid === process.pid)) {
    throw new LocalPostgresError(
      'already_running',
      `The data folder ${folder.path} is in use by process ${owner?.pid ?? process.pid}${record === undefined ? '' : `, whose PostgreSQL listens on port ${record.port}`}: stop that one first, or choose another folder with DATA_DIR.`,
    )
  }
  if (postmaster !== undefined) {
    log(`ending the PostgreSQL that an earlier start left behind (process ${postmaster})`)
    await endServer(folder, postmaster)
  }
  await endOrphans(folder)
  await disarmStaleLock(folder)
  if ((await runningPostmaster(folder)) === undefined) await removeStaleSockets(folder)
}

/** The pid of the server that runs on this cluster, or undefined. Never that of another process with a reused pid. */
export async function runningPostmaster(folder: DataFolder): Promise<number | undefined> {
  const pid = await lockedBy(folder)
  return pid !== undefined && servesCluster(pid, folder) ? pid : undefined
}

/** Whether PostgreSQL's lock file says that it takes connections; a standby takes those that only read. */
export async function isReady(folder: DataFolder, pid: number): Promise<boolean> {
  const lines = (await lockFile(folder))?.split('\n') ?? []
  return Number(lines[0]) === pid && ['ready', 'standby'].includes(lines[7]?.trim() ?? '')
}

/** Ends the processes of a server whose postmaster was killed: they hold its shared memory, so that a new server refuses to start. */
async function endOrphans(folder: DataFolder): Promise<void> {
  const orphans = (): number[] => processesIn(folder.cluster).filter((pid) => commandOf(pid)?.[0]?.startsWith('postgres') === true)
  for (const signal of ['SIGQUIT', 'SIGKILL'] as const) {
    // Idle ones notice within moments; one that runs a long statement does not.
    if (await waitUntil(() => orphans().length === 0, NOTICE_MS)) return
    for (const pid of orphans()) signalProcess(pid, signal)
  }
  await waitUntil(() => orphans().length === 0, NOTICE_MS)
}

async function endServer(folder: DataFolder, pid: number): Promise<void> {
  const isGone = (): boolean => !servesCluster(pid, folder)
  signalProcess(pid, 'SIGINT')
  if (await waitUntil(isGone, FAST_SHUTDOWN_MS)) return
  signalProcess(pid, 'SIGQUIT')
  if (await waitUntil(isGone, NOTICE_MS)) return
  signalProcess(pid, 'SIGKILL')
  await waitUntil(isGone, NOTICE_MS)
}

/**
 * PostgreSQL refuses to start while the pid in its lock file is alive, even if another process has that pid now. It ignores a lock file with the pid of
 * its own parent, so this writes ours. Deleting the file would be wrong: it also names the shared memory by which a new server notices processes of
 * the old one that still write to the data.
 */
async function disarmStaleLock(folder: DataFolder): Promise<void> {
  const [text, pid] = [await lockFile(folder), await lockedBy(folder)]
  // A stale lock does no harm. The lock of a server that another start has just started must stay as it is.
  if (text === undefined || pid === undefined || !isAlive(pid) || servesCluster(pid, folder)) return
  await writeFile(join(folder.cluster, 'postmaster.pid'), text.replace(/^\d+/, String(process.pid)))
}

/** PostgreSQL refuses to start while the pid in the lock of its socket is alive, even if another process has that pid now. */
async function removeStaleSockets(folder: DataFolder): Promise<void> {
  const names = await readdir(folder.cluster).catch(() => [])
  for (const name of names) if (name.startsWith('.s.PGSQL.')) await rm(join(folder.cluster, name), { force: true })
}

function servesCluster(pid: number, folder: DataFolder): boolean {
  if (identifyProcess(pid) === undefined) return false
  const command = commandOf(pid)
  if (command === undefined || !/(^|\/)postgres\b/.test(command[0] ?? '')) return false
  // By its arguments, or by its working folder if the data folder was moved since it started.
  return (
    command.includes(folder.cluster) ||
    (command.length === 1 && command[0]?.includes(` ${folder.cluster} `) === true) ||
    processesIn(folder.cluster).includes(pid)
  )
}

async function lockedBy(folder: DataFolder): Promise<number | undefined> {
  const pid = Number((await lockFile(folder))?.split('\n')[0])
  return Number.isSafeInteger(pid) && pid > 0 && pid !== process.pid ? pid : undefined
}

async function lockFile(folder: DataFolder): Promise<string | undefined> {
  return readFile(join(folder.cluster, 'postmaster.pid'), 'utf8').catch(() => undefined)
}
