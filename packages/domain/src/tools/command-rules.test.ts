import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { denialOfCommand, isCommandAllowed } from './command-rules.ts'

const RULE = 'git push:*'

/** The lines of a table beside this file, as commands. */
function linesOf(file: string): string[] {
  const lines = readFileSync(new URL(file, import.meta.url), 'utf8').split('\n')
  return lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.replaceAll('⏎', '\n').replaceAll('⇥', '\t'))
}
const EVASIONS = linesOf('command-evasions.txt').map((line): [string, string] => [line.slice(0, line.indexOf('\t')), line.slice(line.indexOf('\t') + 1)])
const ORDINARY = linesOf('command-ordinary.txt')

describe('a command that a rule denies', () => {
  it.each(EVASIONS)('is denied by %s: %s', (rule, command) => {
    expect(denialOfCommand([rule], command)).not.toBeNull()
  })

  it('is denied by any of many rules, and says by which, or why it cannot be judged', () => {
    expect(denialOfCommand(['rm:*', RULE], 'cd x && git -C . push')).toBe('a part of it is or could be git push:*')
    expect(denialOfCommand([RULE], '$x push')).toBe('it cannot be judged: the name of a command is not known before it runs; write it out')
    expect(denialOfCommand([RULE], 'echo "')).toContain('it cannot be judged: the shell could not read it')
    expect(denialOfCommand([RULE], '')).toBe('it cannot be judged: it is empty')
    expect(denialOfCommand([], '$x push')).toBeNull()
  })
})

describe('an ordinary command', () => {
  it.each(ORDINARY)('is not denied: %s', (command) => {
    expect(denialOfCommand([RULE], command)).toBeNull()
  })
})

describe('a command that rules allow', () => {
  it.each([
    ['git:*', 'git status'],
    ['git:*', 'git  log --oneline'],
    ['git:*', 'git status && git log; git diff'],
    ['git:*', 'git status\ngit log'],
    ['git:*', 'git log | git apply'],
    ['git:*', 'git show "$(git rev-parse HEAD)"'],
    ['git:*', 'for c in a b; do git show "$c"; done'],
    ['git:*', 'git diff > /dev/null 2>&1'],
    ['git:*', 'LANG=C git status'],
    ['git:*', 'timeout 5 git fetch'],
    ['git:*', 'nohup git fetch || true'],
    ['git:*', 'x=1; git log -n "$x"'],
    ['git push:*', 'git push origin main'],
    ['git log *', 'git log --oneline'],
    ['npm run test', 'npm run test'],
    ['npm run test', 'npm  run "test"'],
    ['npm run *', 'npm run build'],
    ['npm run * --silent', 'npm run build --silent'],
    ['npm test && npm run lint', 'npm test && npm run lint'],
    ['find:*', 'find . -name x'],
    ['find . -exec rm *', 'find . -exec rm {} +'],
    ['*', 'anything $x'],
    ['sh -c *', "sh -c 'ls'"],
    ['xargs grep:*', 'xargs grep x'],
  ])('is allowed by %s: %s', (rule, command) => {
    expect(isCommandAllowed([rule], command)).toBe(true)
  })

  it.each([
    ['git:*', 'gitk'],
    ['git:*', './git status'],
    ['git:*', '/tmp/git status'],
    ['git:*', 'git status && rm x'],
    ['git:*', 'git status | sh'],
    ['git:*', 'git log $(rm x)'],
    ['git:*', 'git log "`rm x`"'],
    ['git:*', 'git log <(rm x)'],
    ['git:*', 'git log > out'],
    ['git:*', 'git log >> out'],
    ['git:*', 'git apply < in'],
    ['git:*', 'git log & rm x'],
    ['git:*', 'f() { rm x; }; git log'],
    ['git:*', 'if git log; then rm x; fi'],
    ['git:*', 'PATH=. git log'],
    ['git:*', 'LD_PRELOAD=x git log'],
    ['git:*', 'GIT_PAGER=x git log'],
    ['git:*', "git -c alias.x='!rm x' x"],
    ['git:*', "git -c core.pager='rm x' log"],
    ['git:*', 'git bisect run rm x'],
    ['git:*', '$x status'],
    ['git:*', '"git status"'],
    ['git:*', 'git "'],
    ['git:*', ''],
    ['git:*', 'env git status'],
    ['git:*', 'sudo git status'],
    ['git:*', 'timeout --unknown 5 git status'],
    ['git push:*', 'git -C . push'],
    ['git push:*', 'git pushx'],
    ['npm run test', 'npm run test --watch'],
    ['npm run test', 'npm run'],
    ['npm run * --silent', 'npm run $x'],
    ['find:*', 'find . -exec rm {} +'],
    ['env:*', 'env rm x'],
    ['xargs:*', 'xargs rm'],
    ['sh:*', "sh -c 'rm x'"],
    ['timeout:*', 'timeout 5 rm x'],
    ['timeout 5:*', 'timeout 5 rm x'],
    ['git rebase:*', "git rebase -x 'rm x' main"],
    ['find . -name:*', 'find . -name x -exec rm {} +'],
    ['xargs -n:*', 'xargs -n 1 rm'],
    ['env X=1:*', 'env X=1 rm x'],
  ])('is not allowed by %s: %s', (rule, command) => {
    expect(isCommandAllowed([rule], command)).toBe(false)
  })

  it('needs each part to be allowed by one of the rules', () => {
    expect(isCommandAllowed(['git:*', 'head:*'], 'git log | head -5')).toBe(true)
    expect(isCommandAllowed(['find:*', 'rm:*'], 'find . -exec rm {} +')).toBe(true)
    expect(isCommandAllowed(['sh:*', 'ls:*'], "sh -c 'ls -l'")).toBe(true)
    expect(isCommandAllowed(['sh:*', 'ls:*'], "sh -c 'ls; rm x'")).toBe(false)
  })
})

/** Shells of this machine, with a `git` that writes down when it would have pushed. */
describe('real shells', () => {
  const shells = ['/bin/sh', '/bin/bash'].filter((shell) => existsSync(shell))
  let root: string
  let mark: string
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'muster-shells-'))
    mark = join(root, 'pushed')
    mkdirSync(join(root, 'bin'))
    const git = `#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in
    push) : > '${mark}'; exit 0;;
    -C|-c|--git-dir|--work-tree) shift; shift;;
    -*) shift;;
    *) exit 0;;
  esac
done
`
    writeFileSync(join(root, 'bin', 'git'), git)
    chmodSync(join(root, 'bin', 'git'), 0o755)
  })
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  /** Whether the command pushes, in any shell. */
  function pushes(command: string): boolean {
    rmSync(mark, { force: true })
    for (const shell of shells) {
      try {
        execFileSync(shell, ['-c', command], { cwd: root, env: { PATH: `${root}/bin:/usr/bin:/bin`, HOME: root }, input: '', stdio: 'pipe', timeout: 20_000 })
      } catch (error) {
        // Most of these commands fail; what counts is whether they have pushed.
        if ((error as { status?: number | null }).status === undefined) throw error
      }
    }
    return existsSync(mark)
  }

  it('push with a good part of the table, so that it is about something', () => {
    const harmless = EVASIONS.filter(
      ([rule, command]) =>
        rule === RULE && !/\/usr\/|sudo|doas|chroot|docker|ssh|npm|npx|vim|watch|script |su |rsync|tar |perl|ruby|node|flock|strace/.test(command),
    )
    const pushing = harmless.filter(([, command]) => pushes(command))
    expect(pushing.length).toBeGreaterThan(80)
  }, 120_000)

  it('never push with a command that is not denied', () => {
    const word = fc.constantFrom(
      ...[
        'git',
        'push',
        'p"us"h',
        '-C',
        '.',
        'echo',
        'x',
        '$x',
        '"$x"',
        '"$@"',
        "'git push'",
        '"git push"',
        'x=push',
        'x=git',
        'eval',
        'sh',
        '-c',
        'env',
        'command',
        'xargs',
        '\\',
        '~',
      ],
      ...[
        'set',
        '--',
        'f()',
        'f',
        '{git,push}',
        "$'push'",
        "$'\\'",
        'p?sh',
        '<<E',
        'E',
        '<<<',
        'alias',
        'x=1',
        'exec',
        '#',
        'case',
        'in',
        'esac',
        'for',
        'if',
        'then',
        'fi',
        'do',
        'done',
      ],
    )
    const joint = fc.constantFrom(
      ' ',
      ' ',
      ' ',
      ' ',
      '',
      '; ',
      '\n',
      ' | ',
      ' && ',
      ' || ',
      ' & ',
      ' $(',
      ') ',
      '`',
      '"',
      "'",
      ' { ',
      '; } ',
      ' ( ',
      ' [[ ',
      ' ]] ',
      ' ((',
      ')) ',
      ' &> ',
      ' !(',
      '\\\n',
      '$[',
      ']',
      '${x:-',
      '}',
    )
    const command = fc.array(fc.tuple(joint, word), { minLength: 2, maxLength: 9 }).map((parts) => parts.flat().join(''))
    const around = fc
      .tuple(command, fc.constantFrom('git push', ' git push', 'push', 'git', 'git p', 'ush'), command)
      .map(([before, middle, after]) => before + middle + after)
    let judged = 0
    fc.assert(
      fc.property(around, (text) => {
        if (denialOfCommand([RULE], text) !== null) return
        judged += 1
        expect(pushes(text)).toBe(false)
      }),
      // About one in fifty is not denied, and takes the time of its shells.
      { numRuns: 3_000 },
    )
    expect(judged).toBeGreaterThan(3)
  }, 240_000)

  it('never push with an ordinary command around which everything is as written', () => {
    for (const command of ORDINARY.filter((each) => /push/.test(each) && /^(?:git|echo|cat|grep|printf)\b/.test(each)))
      expect([command, pushes(command)]).toEqual([command, false])
  }, 60_000)
})

it('an allowed command has no part that is denied, however parts are put together', () => {
  const allowed = fc.constantFrom('git status', 'git log "$x"', 'LANG=C git diff', 'git  show HEAD', 'timeout 5 git fetch', 'git commit -m "git push"')
  const other = fc.constantFrom('git push', 'git -C . push', 'rm x', 'sh -c "git push"', 'env git push', '$x', 'git $x', 'eval git push')
  const wrap = fc.constantFrom(
    (one: string, two: string) => `${one}; ${two}`,
    (one: string, two: string) => `${one} && ${two}`,
    (one: string, two: string) => `${one} | ${two}`,
    (one: string, two: string) => `${one}\n${two}`,
    (one: string, two: string) => `{ ${one}; (${two}); }`,
    (one: string, two: string) => `git show "$(${one})" $(${two})`,
    (one: string, two: string) => `if ${one}; then ${two}; fi`,
    (one: string, two: string) => `for i in 1; do ${one}; ${two}; done`,
  )
  const { tree } = fc.letrec<{ tree: { text: string; isAllowed: boolean } }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      allowed.map((text) => ({ text, isAllowed: true })),
      other.map((text) => ({ text, isAllowed: false })),
      fc.tuple(wrap, tie('tree'), tie('tree')).map(([join, one, two]) => ({ text: join(one.text, two.text), isAllowed: one.isAllowed && two.isAllowed })),
    ),
  }))
  const rules = ['git status:*', 'git log:*', 'git diff:*', 'git show:*', 'git fetch:*', 'git commit:*']
  fc.assert(
    fc.property(tree, ({ text, isAllowed }) => {
      expect(isCommandAllowed(rules, text)).toBe(isAllowed)
      if (!isAllowed && /push|\$x$/.test(text)) return
      if (isAllowed) expect(denialOfCommand([RULE], text)).toBeNull()
    }),
  )
})

it('answers for hostile commands of 100 KiB, and never throws', () => {
  const units = [
    ...[
      '$(',
      '`',
      '(',
      '{ ',
      '$((',
      '[[ ',
      '<<a ',
      '<<a\n',
      '{a,',
      '"$(',
      '\\',
      '\\`',
      'case x in ',
      'if ',
      '<(',
      '@(',
      "$'",
      ';',
      '&&',
      '|',
      'f(){ ',
      '*[',
      'a[',
    ],
    ...['a[$(', 'a ', 'a=( ', 'a[0]=', '$', '"', "'", 'time ', '! ', 'coproc ', '((', '$[', '<<<', 'env ', 'xargs ', 'sudo -a ', 'git -a ', 'git ', "sh -c '"],
    ...['$x ', 'eval ', '-- ', '-C . ', '1+', '{a}>', '$\u007b', '$\u007ba:-', '$\u007ba/', 'env -u ', 'git -c a=b ', 'find -exec '],
  ]
  for (const unit of units) {
    const text = unit.repeat(Math.ceil(100_000 / unit.length)).slice(0, 100_000)
    for (const command of [text, `git ${text}`, `env ${text}`, `echo "${text}"`, `sh -c '${text}'`]) {
      denialOfCommand([RULE, 'rm -rf:*', `${'*a'.repeat(200)}b`], command)
      isCommandAllowed(['git:*'], command)
    }
  }
}, 120_000)
