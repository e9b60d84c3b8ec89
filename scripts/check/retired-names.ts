import { readFile } from 'node:fs/promises'
import ts from 'typescript'
import { run } from './command.ts'
import { repositoryRoot } from './report.ts'

/** One row of the table of retired names in GLOSSARY.md. */
export interface RetiredName {
  use: string
  names: readonly Pattern[]
  texts: readonly Pattern[]
}

interface Pattern {
  expression: RegExp
  /** Parts of paths: a finding counts in files whose path contains one of `only`, and none of `never`. */
  only: readonly string[]
  never: readonly string[]
}

export interface Finding {
  file: string
  line: number
  found: string
  use: string
}

/** A stretch of a file: a declared name, or text such as a comment, a string or a paragraph. */
interface Piece {
  kind: 'name' | 'text' | 'names-in-text'
  at: number
  text: string
}

/** Names of columns and indexes that the database keeps: SQL may use them, and `packages/db` may declare them. */
export function readStoredNames(glossary: string): ReadonlySet<string> {
  const section = glossary.split(/^## Stored names$/m)[1]?.split(/^## /m)[0] ?? ''
  return new Set([...section.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
}

/** The rows of the tables below the heading "Retired names". */
export function readRetiredNames(glossary: string): RetiredName[] {
  const section = glossary.split(/^## Retired names$/m)[1] ?? ''
  const rows = section.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| use |'))
  return rows.map((row) => {
    const [, use = '', names = '', texts = ''] = row.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
    return { use, names: patternsOf(names, '(?:^|-)', '(?:-|$)', ''), texts: patternsOf(texts, '(?<![\\w-])', '(?![\\w-])', 'i') }
  })
}

function patternsOf(cell: string, before: string, after: string, flags: string): Pattern[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, entry = '']) => {
    const [pattern = '', scope = ''] = entry.split(' @ ')
    const paths = scope.split(' ').filter((path) => path !== '')
    return {
      expression: new RegExp(`${before}(?:${pattern.replaceAll(' ', '\\s+')})${after}`, `g${flags}`),
      only: paths.filter((path) => !path.startsWith('!')),
      never: paths.filter((path) => path.startsWith('!')).map((path) => path.slice(1)),
    }
  })
}

/** A name as its words: camel case, snake case and file names alike become lower case with dashes. */
function wordsOf(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .join('-')
    .toLowerCase()
}

/** Where a file uses a retired name. Its path counts as a name, on line 1. A name that a file declares more than once is listed once. */
export function retiredNamesIn(file: string, source: string, retired: readonly RetiredName[], stored: ReadonlySet<string> = new Set()): Finding[] {
  const pieces = /\.(?:ts|mts|cts|js|mjs|cjs)$/.test(file)
    ? piecesOfCode(file, source)
    : /\.md$/.test(file)
      ? piecesOfMarkdown(source)
      : piecesOfOther(file, source)
  const found = new Map<string, Finding>()
  const lineAt = lineNumbers(source)
  const matching = matcherOf(retired)
  const rows = retired.map(({ use, names, texts }) => ({
    use,
    names: names.filter((pattern) => counts(pattern, file)),
    texts: texts.filter((pattern) => counts(pattern, file)),
  }))
  for (const { kind, at, text } of [{ kind: 'name' as const, at: 0, text: file.slice(file.lastIndexOf('/') + 1) }, ...pieces]) {
    const isStored = (name: string) => stored.has(name) && (kind !== 'name' || file.startsWith('packages/db/'))
    const asked = kind === 'name' ? [{ name: text, offset: 0 }] : compoundsOf(text)
    const named = asked.map((each) => ({ ...each, by: matching.names(each.name) })).filter(({ name, by }) => by.size > 0 && !isStored(name))
    const hasText = kind === 'text' && matching.isInText(text)
    if (named.length === 0 && !hasText) continue
    for (const { use, names, texts } of rows) {
      const note = (what: string, offset: number, key: string) => {
        if (!found.has(key)) found.set(key, { file, line: lineAt(at + offset), found: what, use })
      }
      for (const { name, offset, by } of named) if (names.some((pattern) => by.has(pattern))) note(name, offset, `${use} ${name}`)
      if (!hasText) continue
      for (const pattern of texts) {
        for (const match of text.matchAll(pattern.expression)) note(match[0].replace(/\s+/g, ' '), match.index, `${use} ${at + match.index}`)
      }
    }
  }
  return [...found.values()].sort((one, other) => one.line - other.line)
}

/** Names of several words in a text. */
function compoundsOf(text: string): { name: string; offset: number }[] {
  const found = text.matchAll(/[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+|\b[a-z]+(?:[A-Z][A-Za-z0-9]*)+/g)
  return [...found].map(({ 0: name, index }) => ({ name, offset: index }))
}

/** Which patterns match, wherever they count. */
interface Matcher {
  names(name: string): ReadonlySet<Pattern>
  isInText(text: string): boolean
}

const matchers = new WeakMap<readonly RetiredName[], Matcher>()

/** One for all files, because most names are in many of them. */
function matcherOf(retired: readonly RetiredName[]): Matcher {
  const known = matchers.get(retired)
  if (known !== undefined) return known
  const patterns = retired.flatMap(({ names }) => names)
  const ofName = new Map<string, ReadonlySet<Pattern>>()
  const texts = retired.flatMap((row) => row.texts)
  const anyText = texts.length === 0 ? null : new RegExp(texts.map(({ expression }) => expression.source).join('|'), 'i')
  const matcher: Matcher = {
    names(name) {
      const before = ofName.get(name)
      if (before !== undefined) return before
      const words = wordsOf(name)
      const matched = new Set(patterns.filter(({ expression }) => words.search(expression) >= 0))
      ofName.set(name, matched)
      return matched
    },
    isInText: (text) => anyText?.test(text) === true,
  }
  matchers.set(retired, matcher)
  return matcher
}

function counts({ only, never }: Pattern, file: string): boolean {
  return (only.length === 0 || only.some((path) => file.includes(path))) && !never.some((path) => file.includes(path))
}

function lineNumbers(source: string): (at: number) => number {
  const starts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)]
  return (at) => starts.findLastIndex((start) => start <= at) + 1
}

/** Declared names, comments, and strings. Strings of tests are data, and SQL is code: of both only compound names count. */
function piecesOfCode(file: string, source: string): Piece[] {
  const pieces: Piece[] = []
  const literals: [from: number, to: number][] = []
  const isTest = /\.test\.ts$/.test(file)
  const visit = (node: ts.Node): void => {
    if (isDeclaredName(node)) pieces.push({ kind: 'name', at: node.getStart(), text: node.text })
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node) || ts.isRegularExpressionLiteral(node)) {
      literals.push([node.getStart(), node.end])
      if (!isCodeOrPath(node)) pieces.push({ kind: isTest || isTagged(node) ? 'names-in-text' : 'text', at: node.getStart(), text: node.getText() })
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true))
  // What looks like a comment within a string is none.
  let code = ''
  let from = 0
  for (const [start, end] of literals) {
    code += source.slice(from, start) + ' '.repeat(end - start)
    from = end
  }
  code += source.slice(from)
  for (const comment of code.matchAll(/\/\*[\s\S]*?\*\/|\/\/.*/g))
    pieces.push({ kind: 'text', at: comment.index, text: comment[0].replace(/\n\s*\*/g, (gap) => gap.replace('*', ' ')) })
  return pieces
}

function isDeclaredName(node: ts.Node): node is ts.Identifier | ts.PrivateIdentifier {
  if (!ts.isIdentifier(node) && !ts.isPrivateIdentifier(node)) return false
  const { parent } = node
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent) || ts.isShorthandPropertyAssignment(parent)) return false
  return 'name' in parent && parent.name === node && !ts.isPropertyAccessExpression(parent)
}

function isCodeOrPath(node: ts.Node): boolean {
  const { parent } = node
  return ts.isRegularExpressionLiteral(node) || ts.isImportDeclaration(parent) || ts.isExportDeclaration(parent) || ts.isImportTypeNode(parent.parent)
}

function isTagged(node: ts.Node): boolean {
  const template = ts.isTemplateSpan(node.parent) ? node.parent.parent : ts.isTemplateExpression(node.parent) ? node.parent : node
  return ts.isTaggedTemplateExpression(template.parent)
}

/** The text of a document, without the text that an agent reads word for word, without targets of links and without comments. */
function piecesOfMarkdown(source: string): Piece[] {
  const blank = (text: string) => text.replace(/[^\n]/g, ' ')
  const text = source
    .replace(/^```text\n[\s\S]*?^```$/gm, blank)
    .replace(/<!--[\s\S]*?-->/g, blank)
    .replace(/\]\([^)\s]*\)/g, blank)
  const prose = text.replace(/`[^`\n]+`/g, blank)
  const code: Piece[] = [...text.matchAll(/`[^`\n]+`/g)].map((span) => ({ kind: 'names-in-text', at: span.index, text: span[0] }))
  return [{ kind: 'text', at: 0, text: prose }, ...code]
}

/** Of YAML, Dockerfiles and the like the whole text; of data and programs in other languages nothing but their name. */
function piecesOfOther(file: string, source: string): Piece[] {
  return /\.ya?ml$|Dockerfile$|\.env\.example$/.test(file) ? [{ kind: 'text', at: 0, text: source.replace(/^\s*#/gm, blankOf) }] : []
}

function blankOf(text: string): string {
  return text.replace(/[^\n]/g, ' ')
}

/** Every use of a retired name in the files below the given paths that are committed or about to be. */
export async function findRetiredNames(paths: readonly string[]): Promise<Finding[]> {
  const glossary = await readFile(`${repositoryRoot}/GLOSSARY.md`, 'utf8')
  const retired = readRetiredNames(glossary)
  const stored = readStoredNames(glossary)
  const { output } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '--', ...paths])
  const findings: Finding[] = []
  for (const file of output.split('\n')) {
    if (file === '' || file === 'GLOSSARY.md') continue
    const source = await readFile(`${repositoryRoot}/${file}`, 'utf8').catch(() => null)
    if (source !== null) findings.push(...retiredNamesIn(file, source, retired, stored))
  }
  return findings
}

/** `node scripts/check/retired-names.ts <path>…` lists the findings below the paths, and how many each term has. */
if (import.meta.main) {
  const findings = await findRetiredNames(process.argv.slice(2))
  for (const { file, line, found, use } of findings) console.log(`${file}:${line}: ${found} → use ${use}`)
  const counted = Map.groupBy(findings, ({ use }) => use)
  for (const [use, each] of [...counted].sort(([, one], [, other]) => other.length - one.length)) console.log(`${String(each.length).padStart(5)}  ${use}`)
}
