import { describe, expect, it } from 'vitest'
import type { Figure } from './figure.ts'
import { readCommand } from './options.ts'

const FIGURES = ['first', 'second'].map((name): Figure => ({ name, title: '', raised: '', measure: async () => [] }))

describe('npm run bench', () => {
  it('measures everything three times unless told otherwise', () => {
    expect(readCommand([], FIGURES)).toEqual({
      kind: 'measure',
      options: {
        figures: FIGURES,
        runs: 3,
        isQuick: false,
        withPeers: true,
        minutes: 2,
        share: 1,
        axes: undefined,
        plots: undefined,
        isStrict: false,
        json: undefined,
        profile: undefined,
      },
    })
  })

  it('prints a table of files', () => {
    expect(readCommand(['--table', 'a.json', 'b.json'], FIGURES)).toEqual({ kind: 'table', files: ['a.json', 'b.json'] })
  })

  it.each([
    [['--table'], '--table takes the files'],
    [['--quick', '--strict'], 'cannot be had with --quick'],
    [['third'], 'There is no figure third. There are: first, second.'],
    [['--runs', '0'], '--runs takes a number'],
    [['--minutes', '0'], '--minutes takes a number'],
  ])('refuses %j', (argv, message) => {
    expect(() => readCommand(argv, FIGURES)).toThrow(message)
  })
})
