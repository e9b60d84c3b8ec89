import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../scripts/check/report.ts'
import { findRetiredNames, readRetiredNames, readStoredNames, retiredNamesIn } from '../../scripts/check/retired-names.ts'

/** Where no retired name may stand: everything that ships, and the code of benchmarks and chaos. Tests may quote the words that products of others use. */
const ROOTS = [
  '*.md',
  ...['apps', 'packages', 'bench', 'chaos', 'scripts', 'examples', 'openapi.yaml', '.env.example', 'docker-compose.yml', 'Dockerfile'],
  ':!*.test.ts',
]

const glossary = readFileSync(`${repositoryRoot}/GLOSSARY.md`, 'utf8')
const retired = readRetiredNames(glossary)

describe('retired names', () => {
  it('are in no file below the roots', { timeout: 60_000 }, async () => {
    const findings = await findRetiredNames(ROOTS)
    expect(findings.map(({ file, line, found, use }) => `${file}:${line}: ${found} → use ${use}`)).toEqual([])
  })

  it.each([
    ['a file name', 'packages/usecases/src/tasks/task-news.ts', '', ['task-news.ts → task update']],
    ['a constant', 'packages/db/src/a.ts', 'const hasNews = true', ['hasNews → task update']],
    ['a member in snake case', 'packages/db/src/a.ts', 'interface Row { has_news: boolean }', ['has_news → task update']],
    ['a column in SQL', 'packages/db/src/a.ts', 'sql`select has_news from t`', ['has_news → task update']],
    ['a comment', 'packages/db/src/a.ts', '// Rings the bell after the commit.\nfoo()', ['Rings → notifier, notification', 'bell → notifier, notification']],
    [
      'a comment over two lines',
      'packages/db/src/a.ts',
      '/**\n * What nobody\n * is told of.\n */',
      ['nobody → name the subject', 'is told of → say it directly'],
    ],
    ['a message', 'apps/api/src/a.ts', "throw new Error('There is no free slot.')", ['free slot → permit']],
    ['a template', 'apps/api/src/a.ts', 'log(`whoever $'.concat('{name} is`)'), ['whoever → name the subject']],
    ['a document', 'docs/a.md', 'The relay\nkeeps house.', ['keeps house → maintenance']],
    ['a name in a document', 'docs/a.md', 'See `takeAway`.', ['takeAway → unassign']],
    ['a lot that is a batch', 'docs/a.md', 'Each lot is one commit.', ['Each lot → batch']],
    [
      'a round that is not named in full',
      'packages/usecases/src/evaluations/start-revision-round.ts',
      'function nextRound() {}',
      ['nextRound → revision round'],
    ],
    ['the turn of an assignment', 'packages/db/src/queries/injections.ts', 'interface A { turn: number }', ['turn → assignment generation']],
    ['a slot of a lane', 'packages/db/src/queries/lanes.ts', 'function giveSlot() {}', ['giveSlot → permit']],
    ['a workflow', '.github/a.yml', '# for somebody', ['somebody → name the subject']],
  ])('are found in %s', (_, file, source, found) => {
    expect(shown(file, source)).toEqual(expect.arrayContaining(found))
  })

  it.each([
    ['the slot of a schedule', 'packages/usecases/src/schedules/fire-schedules.ts', 'const dueSlot = readSlot(`select slot_at`) // each slot fires once'],
    ['the turn of a model', 'packages/runners/src/ai/runner.ts', 'const maxTurns = 3'],
    ['a revision round', 'packages/usecases/src/settle-runs.ts', 'const revisionRound = 1'],
    ['a number that is rounded', 'packages/usecases/src/settle-runs.ts', 'const x = Math.round(1.5)'],
    ['a word that contains one', 'packages/db/src/a.ts', 'const renewsLease = 1, background = 2, bellows = 3, plot = 4 // strings, talent, normal'],
    ['a lot of something', 'docs/a.md', 'It takes a lot of time.'],
    ['what another module declares', 'packages/db/src/a.ts', "import { hasNews } from './b.ts'\nuse(hasNews)"],
    ['texts of a test', 'packages/db/src/a.test.ts', "say('nobody rings the bell')"],
    ['the text that an agent reads', 'docs/a.md', '```text\nnobody\n```\n'],
    ['the target of a link', 'docs/a.md', '[link](task-news.md)'],
    ['what looks like a comment in a string', 'packages/db/src/a.test.ts', "get('http://nobody')"],
  ])('are not found in %s', (_, file, source) => {
    expect(shown(file, source)).toEqual([])
  })

  function shown(file: string, source: string): string[] {
    return retiredNamesIn(file, source, retired).map(({ found, use }) => `${found} → ${use.replace(/, receipt.*/, '')}`)
  }

  it('may be names that the database keeps, in SQL and in its schema', () => {
    const stored = readStoredNames(glossary)
    const found = (file: string, source: string) => retiredNamesIn(file, source, retired, stored).map((finding) => finding.found)
    expect(found('packages/testing/src/a.ts', 'sql`select has_news from assignments`')).toEqual([])
    expect(found('packages/db/src/a.ts', "boolean('has_news'); interface Row { turn: number }")).toEqual([])
    expect(found('packages/usecases/src/a.ts', 'interface Row { has_news: boolean }')).toEqual(['has_news'])
  })

  it('stand in a table of which every row names its replacement and a pattern', () => {
    expect(retired.length).toBeGreaterThan(15)
    for (const { use, names, texts } of retired) expect([use, use !== '' && names.length + texts.length > 0]).toEqual([use, true])
  })
})
