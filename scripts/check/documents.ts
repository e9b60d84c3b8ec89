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

/** Everything a reader of the documents would stumble over: dead links, and commands that package.json does not have. */
export async function documentProblems(root: string): Promise<string[]> {
  const { scripts } = JSON.parse(await readFile(`${root}/package.json`, 'utf8')) as { scripts: Record<string, string> }
  const files = await markdownFiles()
  const problems: string[] = files.includes('README.md') ? [] : ['README.md does not exist']
  for (const file of files) {
    problems.push(...(await brokenLinks(`${root}/${file}`, root)))
    for (const script of npmScriptsIn(await readFile(`${root}/${file}`, 'utf8'))) {
      if (!(script in scripts)) problems.push(`${file}: package.json has no script "${script}"`)
    }
  }
  return problems
}

/** The Markdown files that are committed or about to be. */
async function markdownFiles(): Promise<string[]> {
  const { output } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', '*.md'])
  return output.split('\n').filter((file) => file !== '' && existsSync(`${repositoryRoot}/${file}`))
}

if (import.meta.main) finish(await documentProblems(repositoryRoot), 'links and commands exist')
