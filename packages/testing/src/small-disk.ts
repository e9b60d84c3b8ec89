import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type postgres from 'postgres'

const run = promisify(execFile)
const MIB = 1_048_576
const PAGE = 4_096
/** Files and folders that fit: a PostgreSQL makes some thousand. */
const ENTRIES = 20_000

/** A disk of a few megabytes that can be filled to its last byte. */
export interface SmallDisk {
  /** An empty folder on it, for any user to enter. */
  path: string
  /** Takes all room that is left. Call it again to take what others have freed since. */
  fill(): Promise<void>
  /** Takes all entries for files and folders that are left. */
  takeEntries(): Promise<void>
  /** Gives back what `fill` and `takeEntries` have taken. */
  free(): Promise<void>
  /** Unmounts it. What has files open on it must have ended. */
  close(): Promise<void>
}

/**
 * Mounts a small tmpfs: a real file system, which answers ENOSPC when it is full.
 *
 * @throws Error where this process may not mount anything
 */
export async function mountSmallDisk(megabytes: number): Promise<SmallDisk> {
  const path = await mkdtemp(join(tmpdir(), 'muster-disk-'))
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,nr_inodes=${ENTRIES},mode=0755`, 'tmpfs', path])
  } catch (error) {
    await rm(path, { recursive: true, force: true })
    throw new Error(
      `A full disk can only be tested where tmpfs can be mounted: run as root, in a container with CAP_SYS_ADMIN (${(error as Error).message.trim()}).`,
    )
  }
  await chmod(path, 0o755)
  const ballast = join(path, 'ballast')
  const entries = join(path, 'entries')
  return {
    path,
    async fill() {
      const file = await open(ballast, 'a')
      try {
        // In ever smaller pieces, so that not a page is left; large ones first, since each is a wait on a busy machine.
        for (const bytes of [64 * MIB, MIB, PAGE]) await appendUntilFull(file, Buffer.alloc(bytes))
      } finally {
        await file.close()
      }
    },
    async takeEntries() {
      await mkdir(entries, { recursive: true })
      for (let number = 0; ; number += 1) {
        try {
          await mkdir(join(entries, String(number)))
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return
          throw error
        }
      }
    },
    async free() {
      await rm(ballast, { force: true })
      await rm(entries, { recursive: true, force: true })
    },
    async close() {
      await run('umount', ['-l', path])
      await rm(path, { recursive: true, force: true })
    },
  }
}

async function appendUntilFull(file: Awaited<ReturnType<typeof open>>, piece: Buffer): Promise<void> {
  for (;;) {
    try {
      await file.write(piece)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return
      throw error
    }
  }
}

const SEGMENTS_IN_RESERVE = 4

/**
 * Has the server keep segments of its log for later, so that it can go on writing its log for a while when the disk is full: without room for its log
 * it ends itself.
 */
export async function reserveLog(admin: postgres.Sql): Promise<void> {
  for (let segment = 0; segment < SEGMENTS_IN_RESERVE; segment += 1) {
    await admin`select pg_logical_emit_message(false, 'reserve', 'a switch of segments needs something in the old one')`
    await admin`select pg_switch_wal()`
  }
  await admin`checkpoint`
}
