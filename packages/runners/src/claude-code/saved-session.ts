import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { Redact } from '../ai/redact.ts'
import type { Run } from '../port.ts'
import type { PrivateFolder } from './private-folder.ts'
import { NO_SESSION_USAGE, type SessionUsage } from './usage.ts'

const amount = z.number().nonnegative()

/** A session of the program that ended to wait for an answer: its id, its file of JSON lines as the program keeps it, and what it has used. */
const savedSession = z.object({
  version: z.literal(1),
  sessionId: z.uuid(),
  transcript: z.string(),
  used: z.object({ inputTokens: amount, cachedInputTokens: amount, outputTokens: amount, costUsd: amount }),
  remembered: z.array(z.string()).default([]),
})

/** The session that the program begins, or resumes. */
export interface ProgramSession {
  id: string
  isResumed: boolean
  /** By earlier attempts. */
  used: SessionUsage
  /** Rules about uses that ask no more in this run. */
  remembered: string[]
}

/** Where the program looks for its sessions: below its configuration, in a folder that is named after the working folder. */
function sessionPath(folder: Pick<PrivateFolder, 'config'>, workspace: string, sessionId: string): string {
  return join(folder.config, 'projects', workspace.replace(/[^a-zA-Z0-9]/g, '-'), `${sessionId}.jsonl`)
}

/** Puts the session of an earlier attempt where the program finds it. A session that this version cannot read is begun again. */
export async function restoreSession({ brief, workspace }: Pick<Run, 'brief' | 'workspace'>, folder: PrivateFolder): Promise<ProgramSession> {
  const saved = brief.continuation == null ? null : readSession(brief.continuation.state)
  if (saved === null) return { id: randomUUID(), isResumed: false, used: NO_SESSION_USAGE, remembered: [] }
  const path = sessionPath(folder, workspace, saved.sessionId)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(path, saved.transcript, { mode: 0o600 })
  return { id: saved.sessionId, isResumed: true, used: saved.used, remembered: saved.remembered }
}

function readSession(text: string): z.infer<typeof savedSession> | null {
  try {
    return savedSession.parse(JSON.parse(text))
  } catch {
    return null
  }
}

/** What the next attempt resumes; undefined if the program has left no session. */
export async function saveSession(
  { id, used, remembered }: Omit<ProgramSession, 'isResumed'>,
  folder: PrivateFolder,
  redact: Redact,
): Promise<string | undefined> {
  const projects = join(folder.config, 'projects')
  const names = await readdir(projects, { recursive: true }).catch(() => [])
  const name = names.find((each) => each.endsWith(`${id}.jsonl`))
  if (name === undefined) return undefined
  return JSON.stringify({ version: 1, sessionId: id, transcript: redact(await readFile(join(projects, name), 'utf8')), used, remembered })
}
