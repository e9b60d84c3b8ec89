import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { LONG } from './longest-first.ts'

it('names files that are there: others would be left to their size without a word', () => {
  expect(LONG.filter((path) => !existsSync(join(import.meta.dirname, '..', '..', path)))).toEqual([])
})
