import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../scripts/check/report.ts'

/** The text that Biome has to say about a source, as if it stood in the given file. */
function lint(file: string, source: string): string {
  const { stdout, stderr, error } = spawnSync('node_modules/.bin/biome', ['lint', `--stdin-file-path=${file}`], {
    cwd: repositoryRoot,
    input: source,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  })
  if (error) throw error
  return stdout + stderr
}

describe('the lint rules of ARCHITECTURE.md', () => {
  it.each(['new Date()', 'Date.now()', '[1].map(Date.now)'])('object to %s outside of the real clock', (expression) => {
    expect(lint('packages/usecases/src/create-subtask.ts', `export const at = ${expression}\n`)).toContain('Only the real clock')
    expect(lint('apps/api/src/app.ts', `export const at = ${expression}\n`)).toContain('Only the real clock')
  })

  it('let the real clock read the time, and everybody turn a value into a Date', () => {
    expect(lint('packages/usecases/src/clock.ts', 'export const at = new Date()\n')).not.toContain('Only the real clock')
    expect(lint('packages/usecases/src/create-subtask.ts', 'export const at = new Date(0)\n')).not.toContain('Only the real clock')
  })

  it('object to process.env, except in main.ts', () => {
    const source = 'export const port = process.env.PORT\n'
    expect(lint('apps/api/src/config.ts', source)).toContain('noProcessEnv')
    expect(lint('packages/db/src/client.ts', source)).toContain('noProcessEnv')
    expect(lint('apps/api/src/main.ts', source)).not.toContain('noProcessEnv')
  })

  it('object to any, console and a promise that nobody waits for', () => {
    const said = lint('packages/db/src/client.ts', 'async function f(): Promise<void> {}\nexport function g(x: any): void {\n  console.log(x)\n  f()\n}\n')
    expect(said).toContain('noExplicitAny')
    expect(said).toContain('noConsole')
    expect(said).toContain('noFloatingPromises')
  })
})
