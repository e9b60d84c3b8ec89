import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { claudePath } from '@muster/testing/claude-program'
import { startScriptedModels } from '@muster/testing/scripted-models'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FOLDER_PREFIX, markOwner, PREPARED_FOLDERS } from './left-folders.ts'

let temporary: string
beforeEach(() => {
  temporary = realpathSync(mkdtempSync(join(tmpdir(), 'muster-test-')))
  vi.stubEnv('TMPDIR', temporary)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(temporary, { recursive: true, force: true })
})

const findLeft = async () =>
  [...(await PREPARED_FOLDERS.findOver(readdirSync(temporary).filter(PREPARED_FOLDERS.has)))].map((name) => join(temporary, name)).sort()
const folderOf = (name: string) => join(temporary, `${FOLDER_PREFIX}${name}`)
function make(name: string): string {
  mkdirSync(join(folderOf(name), 'config'), { recursive: true })
  return folderOf(name)
}
async function owned(name: string, change: object = {}): Promise<string> {
  const folder = make(name)
  await markOwner(folder)
  const path = join(folder, 'owner.json')
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...change }))
  return folder
}

async function endedPid(): Promise<number> {
  const child = spawn('true')
  await once(child, 'exit')
  return child.pid as number
}

describe('folders that a killed worker has left', () => {
  it('are over when their process is gone, or its number is another one', async () => {
    const left = [await owned('gone', { pid: await endedPid() }), await owned('other', { startedAt: '1' })]
    expect(await findLeft()).toEqual(left.sort())
  })

  it('are left alone where they may be in use, or are nobody knows whose', async () => {
    const pid = await endedPid()
    await owned('mine')
    await owned('container', { pid, namespace: 'pid:[1]' })
    make('nobody')
    writeFileSync(join(make('odd'), 'owner.json'), '{"pid": "all"}')
    writeFileSync(folderOf('file'), 'x')
    const elsewhere = join(temporary, 'elsewhere')
    mkdirSync(elsewhere)
    writeFileSync(join(elsewhere, 'owner.json'), JSON.stringify({ pid }))
    symlinkSync(elsewhere, folderOf('link'))
    expect(await findLeft()).toEqual([])
  })

  it('are those of a worker that was killed in the middle of a run', async () => {
    const models = await startScriptedModels()
    models.reply({ text: 'Thinking', ending: 'stall' })
    const settings = { CLAUDE_CODE_PATH: claudePath(), ANTHROPIC_BASE_URL: models.anthropicUrl }
    const host = spawn(process.execPath, [fileURLToPath(new URL('../testing/claude-code-host.ts', import.meta.url)), JSON.stringify(settings)], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, TMPDIR: temporary },
    })
    await models.request(1)
    expect(readdirSync(temporary).filter((name) => name.startsWith(FOLDER_PREFIX))).toHaveLength(1)
    expect(await findLeft()).toEqual([])
    host.kill('SIGKILL')
    await once(host, 'exit')
    expect(await findLeft()).toHaveLength(1)
    await models.close()
  })
})
