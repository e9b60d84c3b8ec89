import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DIGEST = /@sha256:[0-9a-f]{64}$/

const HELP = `Usage: npm run image -- <verb>

  bases   says of each base image whether it is pinned by a digest, as lines of JSON; exits with 1 if one is not
  sbom    writes the bill of materials of what the image installs (CycloneDX, JSON)
  audit   asks the npm registry for known vulnerabilities of these packages

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

/** The variables that Compose reads from a file beside docker-compose.yml. */
function fileOfCompose(): Record<string, string | undefined> {
  const path = join(ROOT, '.env')
  return existsSync(path) ? parseEnv(readFileSync(path, 'utf8')) : {}
}

function run([program, ...args]: [string, ...string[]]): number {
  // This is the pinned version already, and the check would write into the frozen lock file.
  const env = { ...process.env, CI: 'true', pnpm_config_pm_on_fail: 'ignore' }
  return spawnSync(program, args, { cwd: ROOT, env, stdio: 'inherit' }).status ?? 1
}

function main(verb: string | undefined): number {
  if (verb === 'sbom') return run(sbomCommand())
  if (verb === 'audit') return run(pnpm('audit', '--prod'))
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

if (import.meta.main) process.exitCode = main(process.argv[2])
