import { readFile } from 'node:fs/promises'
import { VERSION } from '@muster/domain'
import { expect, it } from 'vitest'
import { repositoryRoot } from '../../scripts/check/report.ts'

it('the version that processes and the reference name is that of package.json', async () => {
  const { version } = JSON.parse(await readFile(`${repositoryRoot}/package.json`, 'utf8')) as { version: string }
  expect(VERSION).toBe(version)
})
