import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inMebibytes } from '../command/outcome.ts'
import type { Run } from '../port.ts'
import type { Cgroup } from '../sandbox/cgroups.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { FOLDER_PREFIX, markOwner } from './left-folders.ts'
import type { ToolRules } from './tool-rules.ts'

/** What the program keeps of its own during one attempt: outside of the workspace, so that its model cannot change the rules it goes by. */
export interface PrivateFolder {
  readonly settings: string
  readonly mcpConfig: string
  readonly instructions: string
  /** In place of the folders of the machine's user: no settings, no hooks, no login of a person are read. */
  readonly home: string
  readonly config: string
  readonly temporary: string
  /** Everything above is in it. */
  readonly root: string
  /** What commands are run by, where there are any. */
  readonly shell: string
  remove(): Promise<void>
}

/** The events that bring something to Muster or from it. SessionStart is not among them: over HTTP the program does not send it. */
const HOOK_EVENTS = ['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'UserPromptSubmit', 'Stop']
const HOOK_TIMEOUT_SECONDS = 5
/** The variable by which the credential reaches the program: in no file, and in no argument. */
const TOKEN = 'MUSTER_TOKEN'

/** What runs a command: without the secrets of the program, and in the sandbox where there is one, with its limits. */
function shellOf(sandbox: readonly string[], cgroup: Cgroup | null, memoryBytes: number | null): string {
  const head = `#!/bin/sh\nunset ANTHROPIC_API_KEY ANTHROPIC_BASE_URL ${TOKEN}\n`
  const command = `${quote(sandbox)}"\${SHELL:-/bin/sh}" -c "$1"`
  if (cgroup === null) return `${head}exec ${command}\n`
  return `${head}killed() { grep -hs '^oom_kill ' ${quote(cgroup.killCounts)}/dev/null; }
before=$(killed)
/bin/sh -c ${quote([ENTER_SCRIPT, 'muster-cgroup', String(cgroup.entrances.length), ...cgroup.entrances])}${command}
status=$?
[ "$(killed)" = "$before" ] || echo '[the kernel killed a process, because memory ran out; your commands may use ${inMebibytes(memoryBytes ?? 0)} together]' >&2
exit $status
`
}

/** Enters the cgroup before there is a sandbox, which shows it read-only. Only what is in it is killed with it: the shell around this one says so. */
const ENTER_SCRIPT = `count=$1; shift
while [ "$count" -gt 0 ]; do echo $$ > "$1" || exit 125; shift; count=$((count - 1)); done
exec "$@"`

function quote(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}' `).join('')
}

/** Makes the folder, for the eyes of this user alone. Commands may change its part for temporary files, where the program expects notes of them. */
export async function makePrivateFolder(
  { access, brief, workspace }: Pick<Run, 'access' | 'brief' | 'workspace'>,
  rules: ToolRules,
  sandbox: Sandbox | null = null,
  cgroup: Cgroup | null = null,
): Promise<PrivateFolder> {
  const root = await mkdtemp(join(tmpdir(), FOLDER_PREFIX))
  const folder = {
    root,
    settings: join(root, 'settings.json'),
    mcpConfig: join(root, 'mcp.json'),
    instructions: join(root, 'instructions.md'),
    home: join(root, 'home'),
    config: join(root, 'config'),
    temporary: join(root, 'tmp'),
    shell: join(root, 'shell'),
    remove: () => rm(root, { recursive: true, force: true, maxRetries: 3 }),
  }
  const write = (path: string, text: string, mode = 0o600) => writeFile(path, text, { mode, flag: 'wx' })
  await Promise.all([
    markOwner(root),
    ...[folder.home, folder.config, folder.temporary].map((path) => mkdir(path, { mode: 0o700 })),
    write(folder.settings, JSON.stringify(settingsOf(access.url, rules))),
    write(folder.mcpConfig, JSON.stringify(mcpConfigOf(access.url))),
    write(folder.instructions, brief.text),
  ])
  // The sandbox binds folders, so they have to exist.
  const confined = sandbox === null ? [] : commandSandbox(sandbox, workspace, root, folder.temporary)
  await write(folder.shell, shellOf(confined, cgroup, sandbox?.limits.memoryBytes ?? null), 0o700)
  return folder
}

/** All of the arguments but the command's own. What the program has written for its commands, such as the shell's settings, they may read. */
function commandSandbox(sandbox: Sandbox, workspace: string, root: string, temporary: string): string[] {
  const shell = { program: '/bin/sh', args: [], cwd: workspace, folders: [workspace, temporary], reads: [root] }
  return [sandbox.program, ...sandbox.argumentsOf(shell, 'sandbox').slice(0, -1)]
}

/** Rules about tools, and hooks that call Muster with the subtask's own credential. */
function settingsOf(url: string, { allow, deny, ask }: ToolRules): Record<string, unknown> {
  const hook = {
    type: 'http',
    url: `${url}/hooks/claude-code`,
    timeout: HOOK_TIMEOUT_SECONDS,
    headers: { Authorization: `Bearer $${TOKEN}` },
    allowedEnvVars: [TOKEN],
  }
  return {
    permissions: { allow, deny, ...(ask.length === 0 ? { defaultMode: 'dontAsk' } : { ask }), disableBypassPermissionsMode: 'disable' },
    hooks: Object.fromEntries(HOOK_EVENTS.map((event) => [event, [{ hooks: [hook] }]])),
  }
}

function mcpConfigOf(url: string): Record<string, unknown> {
  // Its few tools are in the first prompt, and not behind a search.
  return { mcpServers: { muster: { type: 'http', url: `${url}/mcp`, headers: { Authorization: `Bearer \${${TOKEN}}` }, alwaysLoad: true } } }
}
