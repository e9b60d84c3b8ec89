import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const HELP = `Usage: node scripts/driver-patch.ts [<version>]

Says for each hunk of patches/postgres@*.patch whether a release of the driver still needs it: applies all other hunks to that release,
the newest one by default, and runs the tests of connections and transactions against it.

  needed      these tests fail without the hunk
  not needed  all tests pass without it, or the release has it already
  unknown     the hunk or the others do not apply to this release

Needs the network, the installed project and \`patch\`. Takes ten seconds a hunk, or two minutes if the tests do not end without it.
`
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const TESTS = ['packages/db/src/connection-loss.test.ts', 'packages/db/src/client.test.ts', 'packages/db/src/tls.test.ts', 'packages/jobs/src/notifier.test.ts']

interface Hunk {
  /** `src/index.js:202` */
  place: string
  text: string
}

/** The hunks of a patch, each with the header of its file. */
function readHunks(patch: string): Hunk[] {
  return patch.split(/^diff --git .*\n(?:index .*\n)?/m).flatMap((ofFile) => {
    const header = /^--- a\/(.*)\n\+\+\+ b\/.*\n/.exec(ofFile)
    if (header === null) return []
    const hunks = ofFile.slice(header[0].length).split(/^(?=@@ )/m)
    return hunks.map((hunk) => ({ place: `${header[1]}:${/^@@ -(\d+)/.exec(hunk)?.[1]}`, text: header[0] + hunk }))
  })
}

/** Applies hunks to a copy of the released package. Returns false if one does not apply. */
function applyTo(folder: string, hunks: readonly Hunk[]): boolean {
  return hunks.every(({ text }) => spawnSync('patch', ['-p1', '--quiet', '--forward', '--fuzz=2', '-r', '-'], { cwd: folder, input: text }).status === 0)
}

/** The tests that fail with the driver in `folder`; null if they could not be run. */
function failingTests(folder: string, report: string): string[] | null {
  rmSync(report, { force: true })
  spawnSync('npx', ['vitest', 'run', ...TESTS, '--project', 'packages', '--reporter=json', `--outputFile=${report}`], {
    cwd: ROOT,
    env: { ...process.env, MUSTER_TEST_DRIVER: join(folder, 'src/index.js') },
    stdio: 'ignore',
    timeout: 120_000,
  })
  try {
    const { testResults, success } = JSON.parse(readFileSync(report, 'utf8')) as {
      success: boolean
      testResults: { assertionResults: { status: string; fullName: string }[] }[]
    }
    const failed = testResults.flatMap(({ assertionResults }) => assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName))
    // Unhandled errors fail a run without failing a test.
    return failed.length === 0 && !success ? ['an unhandled error'] : failed
  } catch {
    return null
  }
}

function main(version: string): void {
  const work = mkdtempSync(join(tmpdir(), 'muster-driver-'))
  try {
    execFileSync('npm', ['install', '--silent', '--no-save', '--prefix', work, `postgres@${version}`], { stdio: 'inherit' })
    const released = join(work, 'node_modules/postgres')
    const { version: installed } = JSON.parse(readFileSync(join(released, 'package.json'), 'utf8')) as { version: string }
    const patch = execFileSync('sh', ['-c', 'ls patches/postgres@*.patch'], { cwd: ROOT, encoding: 'utf8' }).trim()
    const hunks = readHunks(readFileSync(join(ROOT, patch), 'utf8'))
    console.log(`postgres ${installed}, ${patch}, ${hunks.length} hunks`)
    const report = join(work, 'report.json')
    const judge = (name: string, chosen: readonly Hunk[]): string => {
      const folder = join(work, name)
      cpSync(released, folder, { recursive: true })
      if (!applyTo(folder, chosen)) return 'unknown     does not apply'
      const failing = failingTests(folder, report)
      if (failing === null) return 'needed      the tests do not end'
      return failing.length === 0 ? 'not needed' : `needed      ${failing.join('; ')}`
    }
    console.log(`all hunks: ${judge('all', hunks)}`)
    console.log(`no hunk: ${judge('none', [])}`)
    for (const [place, hunk] of hunks.entries()) {
      console.log(`${String(place + 1).padStart(2)} ${hunk.place.padEnd(24)} ${judge(`without-${place}`, hunks.toSpliced(place, 1))}`)
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

const [version = 'latest', ...rest] = process.argv.slice(2)
if (version.startsWith('-') || rest.length > 0) {
  console.log(HELP)
  process.exitCode = version === '--help' || version === '-h' ? 0 : 2
} else main(version)
