import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { compileTsg, matchTsgs, parseTsgMarkdown, type Tsg, tsgPatternProblem } from '@muster/domain'
import { describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../scripts/check/report.ts'

const FOLDER = `${repositoryRoot}/tsgs`

function read(file: string): Tsg & { tsg_id: string } {
  const parsed = parseTsgMarkdown(readFileSync(`${FOLDER}/${file}`, 'utf8'))
  if ('problem' in parsed) throw new Error(`${file} ${parsed.problem}`)
  return parsed.fields as unknown as ReturnType<typeof read>
}

/** The lines of the first block of code: what the failure says. */
function errorLines({ content }: Tsg): string[] {
  return /```text\n([\s\S]*?)\n```/.exec(content)?.[1]?.split('\n') ?? []
}

const guides = readdirSync(FOLDER).map((file) => ({ file, tsg: read(file) }))
const compile = (tsg: ReturnType<typeof read>, patterns = tsg.patterns) => compileTsg({ ...tsg, tsgId: tsg.tsg_id, patterns })
const all = guides.map(({ tsg }) => compile(tsg))

describe('the sample guides', () => {
  it('are five at least', () => {
    expect(guides.length).toBeGreaterThanOrEqual(5)
  })
})

describe.each(guides)('$file', ({ file, tsg }) => {
  it('is named after its id, and every pattern of it can be one', () => {
    expect(tsg.tsg_id).toBe(basename(file, '.md'))
    for (const pattern of tsg.patterns) expect(tsgPatternProblem(tsg.match, pattern)).toBeNull()
  })

  it('is brought up by each of the lines that it shows, and before every other', () => {
    expect(errorLines(tsg).length).toBeGreaterThan(1)
    for (const line of errorLines(tsg)) expect([line, matchTsgs(all, [line], () => {})[0]?.tsgId]).toEqual([line, tsg.tsg_id])
  })

  it('has no pattern that none of its lines shows', () => {
    for (const pattern of tsg.patterns) expect([pattern, matchTsgs([compile(tsg, [pattern])], errorLines(tsg), () => {}).length]).toEqual([pattern, 1])
  })

  it('says what to do', () => {
    expect(tsg.content).toMatch(/^## What it looks like$/m)
    expect(tsg.content).toMatch(/^## What to do/m)
  })
})
