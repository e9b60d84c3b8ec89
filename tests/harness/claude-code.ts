import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { claudePath } from '@muster/testing/claude-program'
import type { ScriptedModels } from '@muster/testing/scripted-models'

const DOCUMENT = new URL('../../docs/claude-code.md', import.meta.url)
/** The address in the documents and in the examples. */
const DOCUMENTED_ADDRESS = 'http://127.0.0.1:7300'

/** A folder in which Claude Code runs. */
export class ClaudeProject {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'muster-claude-')))
  readonly #models: ScriptedModels

  constructor(models: ScriptedModels) {
    this.#models = models
  }

  /** Puts the settings of docs/claude-code.md into the folder: every hook, and the MCP server. */
  addDocumentedSettings(address: string): void {
    const blocks = [...readFileSync(DOCUMENT, 'utf8').matchAll(/```json\n(.*?)```/gs)].map(([, json = '']) => JSON.parse(pointedTo(address, json)))
    const { hooks } = blocks.find((block) => 'hooks' in block)
    const sessionStart = blocks.find((block) => 'SessionStart' in block)
    const servers = blocks.find((block) => 'mcpServers' in block)
    const permissions = { allow: ['mcp__muster', 'Read'] }
    mkdirSync(join(this.folder, '.claude'))
    writeFileSync(
      join(this.folder, '.claude', 'settings.json'),
      JSON.stringify({ enableAllProjectMcpServers: true, permissions, hooks: { ...hooks, ...sessionStart } }),
    )
    writeFileSync(join(this.folder, '.mcp.json'), JSON.stringify(servers))
  }

  /** Runs the real program once, for a person who trusts the folder. Returns what it says last, when it has ended. */
  async run(prompt: string, { key = '', sessionId = randomUUID() as string } = {}): Promise<{ code: number | null; said: string }> {
    const home = mkdtempSync(join(tmpdir(), 'muster-claude-home-'))
    writeFileSync(join(home, '.claude.json'), JSON.stringify({ projects: { [this.folder]: { hasTrustDialogAccepted: true } } }))
    const child = spawn(claudePath(), ['--print', prompt, '--setting-sources', 'project', '--session-id', sessionId], {
      cwd: this.folder,
      env: {
        PATH: process.env.PATH,
        HOME: home,
        ANTHROPIC_API_KEY: 'sk-ant-key-of-a-person',
        ANTHROPIC_BASE_URL: this.#models.anthropicUrl,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        MUSTER_KEY: key,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    const [code] = (await once(child, 'close')) as [number | null]
    rmSync(home, { recursive: true })
    return { code, said: Buffer.concat(chunks).toString('utf8').trim() }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true })
  }
}

/** Settings of the documents or of an example, for a server at another address. */
export function pointedTo(address: string, settings: string): string {
  return settings.replaceAll(DOCUMENTED_ADDRESS, address)
}
