import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { run } from './command.ts'
import { finish, repositoryRoot } from './report.ts'

/** The anchor that a heading gets: lower case, punctuation dropped, blanks to dashes. */
function slug(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')
}

/** The anchors of a Markdown text, from its headings outside code blocks. */
export function anchorsOf(markdown: string): Set<string> {
  return new Set([...withoutCode(markdown).matchAll(/^#{1,6} +(.+)$/gm)].map((match) => slug(match[1] ?? '')))
}

function withoutCode(markdown: string): string {
  return markdown.replace(/^(```|~~~)[\s\S]*?^\1/gm, '')
}

/** The links of one document that lead nowhere: to a file or an anchor that does not exist. Links to the web are left alone. */
export async function brokenLinks(file: string, root: string): Promise<string[]> {
  const markdown = await readFile(file, 'utf8')
  const problems: string[] = []
  for (const [, target = ''] of withoutCode(markdown).matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)) {
    if (/^[a-z][a-z0-9+.-]*:/i.test(target)) continue
    const [path = '', anchor] = target.split('#')
    const pointed = path === '' ? file : join(path.startsWith('/') ? root : dirname(file), decodeURIComponent(path))
    const name = relative(root, file)
    if (relative(root, pointed).startsWith('..')) problems.push(`${name}: ${target} leads out of the repository`)
    else if (!existsSync(pointed)) problems.push(`${name}: ${target} does not exist`)
    else if (anchor && pointed.endsWith('.md') && !anchorsOf(await readFile(pointed, 'utf8')).has(anchor))
      problems.push(`${name}: ${target} has no such heading`)
  }
  return problems
}

/** The npm scripts that a text tells its reader to run. */
export function npmScriptsIn(markdown: string): Set<string> {
  const named = [...markdown.matchAll(/\bnpm run ([a-z][a-z0-9:-]*)/g)].map((match) => match[1] ?? '')
  const short = [...markdown.matchAll(/\bnpm (start|test)\b/g)].map((match) => match[1] ?? '')
  return new Set([...named, ...short])
}

/** Definitions and guides for agents, and the glossary, name files that are not ours. */
const NAMES_OTHER_FILES = /^(?:subagents|tsgs)\/|^GLOSSARY\.md$/
/** Files of examples, users and other programs, and files that a command writes. */
const NOT_IN_THE_REPOSITORY = [
  /^(?:\.\/|b\/\.\.\/|<client_cwd>\/)?a\.ts$/,
  /^(?:src\/.*)?(?:module1217|lexer)\.ts$/,
  /^(?:\.claude\/.*|\.mcp\.json|CLAUDE\.md)$/,
  /^(?:bench\/results\/.*|<figure>\.statements\.json|dist\/|muster\.cdx\.json)$/,
]
const ENDS_LIKE_A_FILE = /[\w>]\.(?:ts|mjs|cjs|js|md|jsonc?|ya?ml|sql|txt|patch)$/
const FOLDER = /^[a-z-]+\/(?:<[\w-]+>)?$/

/**
 * The paths in a Markdown text that lead to no file of the repository. A path is a code span that begins with a folder at the root, or ends like a
 * file or folder. `<placeholder>` stands for any name, and one file must match. A path without its first folders may be the end of any path.
 */
export function unknownPaths(markdown: string, files: readonly string[]): string[] {
  const paths = new Set(files.flatMap((file) => file.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'))))
  const spans = [...withoutCode(markdown).matchAll(/`([\w.@/<>-]+)`/g)].map((match) => match[1] ?? '')
  return spans.filter((span) => {
    const isAtRoot = paths.has(span.slice(0, span.indexOf('/')))
    if (span.startsWith('/') || NOT_IN_THE_REPOSITORY.some((pattern) => pattern.test(span))) return false
    if (!isAtRoot && !ENDS_LIKE_A_FILE.test(span) && !FOLDER.test(span)) return false
    const pattern = span
      .replace(/\/$/, '')
      .replaceAll('.', '\\.')
      .replace(/<[^>]*>/g, '[^/]+')
    const expected = new RegExp(`${isAtRoot ? '^' : '(?:^|/)'}${pattern}$`)
    return ![...paths].some((path) => expected.test(path))
  })
}

/** Everything that misleads a reader of the documents: dead links, paths without a file, and commands that package.json does not have. */
export async function documentProblems(root: string): Promise<string[]> {
  const { scripts } = JSON.parse(await readFile(`${root}/package.json`, 'utf8')) as { scripts: Record<string, string> }
  const all = await committedFiles()
  const files = all.filter((file) => file.endsWith('.md'))
  const problems: string[] = files.includes('README.md') ? [] : ['README.md does not exist']
  for (const file of files) {
    problems.push(...(await brokenLinks(`${root}/${file}`, root)))
    const markdown = await readFile(`${root}/${file}`, 'utf8')
    for (const script of npmScriptsIn(markdown)) {
      if (!(script in scripts)) problems.push(`${file}: package.json has no script "${script}"`)
    }
    if (!NAMES_OTHER_FILES.test(file)) problems.push(...unknownPaths(markdown, all).map((path) => `${file}: there is no ${path}`))
  }
  return problems
}

/** The files that are committed or about to be. */
async function committedFiles(): Promise<string[]> {
  const { output } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate'])
  return output.split('\n').filter((file) => file !== '' && existsSync(`${repositoryRoot}/${file}`))
}

if (import.meta.main) finish(await documentProblems(repositoryRoot), 'links, paths and commands exist')
