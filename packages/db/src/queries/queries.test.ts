import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const folder = import.meta.dirname
const files = globSync('**/*.ts', { cwd: folder, exclude: ['**/*.test.ts'] })

it('a file of queries uses drizzle, or SQL with its reason on the first line', () => {
  const found = files.map((file) => {
    const source = readFileSync(`${folder}/${file}`, 'utf8')
    return { file, isDrizzle: /\.orm\b/.test(source), isSql: /\bsql\??: |'sql'|\.sql\b/.test(source), hasReason: /^\/\/ SQL: \S/.test(source) }
  })
  expect(found.length).toBeGreaterThan(30)
  expect(found.filter(({ isDrizzle, isSql, hasReason }) => (isDrizzle && isSql) || isSql !== hasReason)).toEqual([])
})
