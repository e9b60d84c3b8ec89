import { describe, expect, it } from 'vitest'
import { parseKeyCommand } from './options.ts'

const NOW = new Date('2026-01-01T00:00:00Z')
const ID = '00000000-0000-7000-8000-000000000001'

describe('npm run key', () => {
  it.each([[[]], [['--help']], [['create', '-h']]])('explains itself when it is called with %j', (argv) => {
    expect(parseKeyCommand(argv, NOW)).toEqual({ verb: 'help' })
  })

  it('reads what a key is to be', () => {
    const argv = ['create', '--name', ' ci ', '--scopes', 'subtasks:read, subtasks:write,', '--project', ID, '--agent', 'reviewer', '--expires', '30d']

    expect(parseKeyCommand(argv, NOW)).toEqual({
      verb: 'create',
      name: 'ci',
      scopes: ['subtasks:read', 'subtasks:write'],
      project: ID,
      agentId: 'reviewer',
      expiresAt: new Date('2026-01-31T00:00:00Z'),
    })
  })

  it.each([
    ['12h', '2026-01-01T12:00:00.000Z'],
    ['2w', '2026-01-15T00:00:00.000Z'],
    ['2027-01-31', '2027-01-31T00:00:00.000Z'],
  ])('reads the expiry %s as %s', (given, expected) => {
    expect(parseKeyCommand(['create', '--name', 'n', '--scopes', 'admin', '--expires', given], NOW)).toMatchObject({ expiresAt: new Date(expected) })
  })

  it.each([
    [['create', '--scopes', 'admin'], '--name is missing'],
    [['create', '--name', 'n'], '--scopes is missing'],
    [['create', '--name', 'n', '--scopes', 'admin', '--expires', 'soon'], 'soon is neither'],
    [['create', '--name', 'n', '--scopes', 'admin', '--expires', '2025-12-31'], 'is over already'],
    [['create', '--name', 'n', '--scopes', 'admin', '--project', ID, '--new-project', 'other'], 'exclude each other'],
    [['list', '--project', 'mine'], 'mine is none'],
    [['revoke'], 'needs the id of a key'],
    [['revoke', ID, ID], 'is too much'],
    [['delete', ID], 'is too much'],
    [['delete'], 'there is no delete'],
  ])('refuses %j and says why', (argv, reason) => {
    expect(() => parseKeyCommand(argv, NOW)).toThrow(new RegExp(reason, 'i'))
  })
})
