import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** The pinned version is in use already, and pnpm's own check of that would write into the frozen lock file. */
const SPAWNED = { cwd: ROOT, env: { ...process.env, CI: 'true', pnpm_config_pm_on_fail: 'ignore' } }
const DIGEST = /@sha256:[0-9a-f]{64}$/

const HELP = `Usage: npm run image -- <verb>

  bases   says of each base image whether it is pinned by a digest, as lines of JSON; exits with 1 if one is not
  sbom    writes the bill of materials of the packages of npm that the image installs (CycloneDX, JSON);
          with --system also of the Debian and the Node that it runs on, as Dockerfile does
  audit   asks the npm registry for known vulnerabilities of these packages
  scan [<image>]
          says which Debian packages of a built image (default: muster) have a newer version in the archives of its
          base, security updates among them, as lines of JSON; exits with 1 if one has. Needs Docker

See docs/operations.md, "What is in the image".`

/** A base image, and the variable that names another one. */
export interface Base {
  image: string
  variable: string
  isPinned: boolean
}

/** The base images that a build and Compose use with these variables. */
export function basesOf(environment: Record<string, string | undefined>): Base[] {
  const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')
  const shipped = {
    NODE_IMAGE: /^ARG NODE_IMAGE=(\S+)$/m.exec(read('Dockerfile'))?.[1],
    POSTGRES_IMAGE: /\$\{POSTGRES_IMAGE:-(\S+)\}/.exec(read('docker-compose.yml'))?.[1],
  }
  return Object.entries(shipped).map(([variable, otherwise]) => {
    const image = environment[variable] || otherwise
    if (image === undefined) throw new Error(`Dockerfile and docker-compose.yml name no image by ${variable}.`)
    return { image, variable, isPinned: DIGEST.test(image) }
  })
}

/** The project's version of pnpm. */
function pnpm(...args: string[]): [string, ...string[]] {
  const { packageManager } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { packageManager: string }
  return ['npx', '--yes', packageManager.split('+')[0] as string, ...args]
}

/** Writes the bill of materials of the packages that Dockerfile installs, with the same filters. */
export function sbomCommand(): [string, ...string[]] {
  const filters = ['muster-workspace...', '@muster/api...', '@muster/worker...'].flatMap((filter) => ['--filter-prod', filter])
  return pnpm('sbom', '--sbom-format', 'cyclonedx', '--prod', ...filters)
}

/** A package in a bill of materials. */
interface Component {
  type: 'library'
  'bom-ref': string
  name: string
  version: string
  /** The address by which scanners know it. */
  purl: string
}

/**
 * The packages of Debian that are installed.
 *
 * @param status the text of /var/lib/dpkg/status
 * @param release the text of /etc/os-release
 */
export function debianComponents(status: string, release: string): Component[] {
  const distro = `debian-${/^VERSION_ID="?([^"\n]+)/m.exec(release)?.[1] ?? 'unknown'}`
  return status.split('\n\n').flatMap((paragraph) => {
    const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'm').exec(paragraph)?.[1]
    const [name, version, arch] = [field('Package'), field('Version'), field('Architecture')]
    if (name === undefined || version === undefined || arch === undefined || field('Status') !== 'install ok installed') return []
    // Vulnerabilities are known by the source of a package.
    const upstream = field('Source')?.split(' ')[0]
    const qualifiers = new URLSearchParams({ arch, distro, ...(upstream !== undefined && { upstream }) })
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?${qualifiers}`
    return [{ type: 'library' as const, 'bom-ref': purl, name, version, purl }]
  })
}

/** The Node that runs this, by the name that scanners know it by: no package of the official image installs it. */
function nodeComponent(): Component & { cpe: string } {
  const version = process.version.slice(1)
  const purl = `pkg:generic/node@${version}`
  return { type: 'library', 'bom-ref': purl, name: 'node', version, purl, cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*` }
}

/** Writes the bill of materials of the packages of npm, and of the system that this runs on where that is asked for. */
function writeBill(isWithSystem: boolean): number {
  const [program, ...args] = sbomCommand()
  const { status, stdout } = spawnSync(program, args, { ...SPAWNED, stdio: ['inherit', 'pipe', 'inherit'], encoding: 'utf8', maxBuffer: 256 * 1_048_576 })
  if (status !== 0) return status ?? 1
  const bill = JSON.parse(stdout) as { components: unknown[] }
  if (isWithSystem)
    bill.components.push(nodeComponent(), ...debianComponents(readFileSync('/var/lib/dpkg/status', 'utf8'), readFileSync('/etc/os-release', 'utf8')))
  process.stdout.write(`${JSON.stringify(bill, null, 2)}\n`)
  return 0
}

/** A package of an image that its archives have in a newer version. */
interface Update {
  package: string
  installed: string
  available: string
  /** The archives that have it. */
  from: string
}

/** Reads what `apt-get --just-print upgrade` prints. */
export function updatesOf(printed: string): Update[] {
  return [...printed.matchAll(/^Inst (\S+) \[(\S+)\] \((\S+) (.*) \[\S+\]\)/gm)].map(([, name = '', installed = '', available = '', from = '']) => {
    return { package: name, installed, available, from }
  })
}

/** Asks the archives of a built image's base what they have newer. */
function scan(image: string): number {
  const script = 'apt-get update -qq >&2 && apt-get --just-print upgrade'
  const args = ['run', '--rm', '--user', 'root', '--entrypoint', 'sh', image, '-c', script]
  const { status, stdout, error } = spawnSync('docker', args, { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8', maxBuffer: 16 * 1_048_576 })
  if (error !== undefined) console.error(`Docker could not be started: ${error.message}.`)
  if (status !== 0) return 2
  const updates = updatesOf(stdout)
  for (const update of updates) console.log(JSON.stringify(update))
  if (updates.length > 0) console.error(`Build ${image} again on a newer base image.`)
  return updates.length === 0 ? 0 : 1
}

/** The variables that Compose reads from a file beside docker-compose.yml. */
function fileOfCompose(): Record<string, string | undefined> {
  const path = join(ROOT, '.env')
  return existsSync(path) ? parseEnv(readFileSync(path, 'utf8')) : {}
}

function main(verb: string | undefined, option: string | undefined): number {
  if (verb === 'sbom') return writeBill(option === '--system')
  if (verb === 'scan') return scan(option ?? 'muster')
  if (verb === 'audit') {
    const [program, ...args] = pnpm('audit', '--prod')
    return spawnSync(program, args, { ...SPAWNED, stdio: 'inherit' }).status ?? 1
  }
  if (verb === 'bases') {
    const bases = basesOf({ ...fileOfCompose(), ...process.env })
    for (const { image, variable, isPinned } of bases) {
      const advice = `Its tag may name another image tomorrow. Set ${variable}=${image.split('@')[0]}@sha256:…`
      console.log(JSON.stringify({ image, pinned: isPinned, ...(!isPinned && { advice }) }))
    }
    return bases.every(({ isPinned }) => isPinned) ? 0 : 1
  }
  const isAsked = verb === undefined || verb === '--help' || verb === '-h'
  if (!isAsked) console.error(`There is no verb ${verb}.\n`)
  console.log(HELP)
  return isAsked ? 0 : 2
}

if (import.meta.main) process.exitCode = main(process.argv[2], process.argv[3])
