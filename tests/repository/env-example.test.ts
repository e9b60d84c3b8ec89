import { readFile } from 'node:fs/promises'
import { parseSettings, settingsSchema } from '@muster/domain'
import { describe, expect, it } from 'vitest'
import { renderEnvExample } from '../../scripts/check/env-example.ts'
import { repositoryRoot } from '../../scripts/check/report.ts'

/** The settings of a file whose lines were all made to count. */
function uncommented(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/^#([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]))
}

describe('.env.example', () => {
  it('is what the settings table generates', async () => {
    expect(await readFile(`${repositoryRoot}/.env.example`, 'utf8')).toBe(renderEnvExample())
  })

  it('names every setting', () => {
    expect(Object.keys(uncommented(renderEnvExample()))).toEqual(Object.keys(settingsSchema.shape))
  })

  it('shows the true defaults: with every line made to count, nothing changes', () => {
    expect(parseSettings(uncommented(renderEnvExample()))).toEqual(parseSettings({}))
  })
})
