import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import type { Subagent, SubagentImportRow } from '@muster/client'
import type { Command } from 'commander'
import { Cli } from '../cli.ts'
import { CliError, EXIT, usageError } from '../exit-codes.ts'
import type { Column } from '../output/output.ts'
import { clean, oneLine } from '../output/text.ts'

type Listed = Pick<Subagent, 'name' | 'model' | 'version' | 'source' | 'description'>

const COLUMNS: Column<Listed>[] = [
  ['NAME', ({ name }) => name],
  ['MODEL', ({ model }) => model],
  ['VERSION', ({ version }) => version],
  ['FROM', ({ source }) => source],
  ['DESCRIPTION', ({ description }) => description],
]

const IMPORT_COLUMNS: Column<SubagentImportRow>[] = [
  ['OUTCOME', ({ outcome }) => outcome],
  ['NAME', ({ name }) => name],
  ['FILE', ({ path }) => path],
  ['WHY', ({ errors, warnings }) => [...errors, ...warnings].map(describeDefect).join('; ')],
]

/** What is wrong with a definition, and on which line. */
function describeDefect(defect: SubagentImportRow['errors'][number] | SubagentImportRow['warnings'][number]): string {
  if (typeof defect === 'string') return oneLine(defect)
  const { line, field, reason } = defect
  return oneLine(`${line === null ? '' : `line ${line}: `}${field} ${reason}`)
}

/** Archives and their media types. */
const ARCHIVES: [ending: RegExp, type: string][] = [
  [/\.zip$/, 'application/zip'],
  [/\.tar$/, 'application/x-tar'],
  [/\.(tar\.gz|tgz)$/, 'application/gzip'],
]

export function addSubagents(program: Command): void {
  const subagents = program.command('subagents').description('sub-agents: definitions with role, model and tools')
  subagents
    .command('ls')
    .description('list sub-agents')
    .action(async (_options: unknown, command: Command) => {
      const cli = Cli.of(command)
      const all = await cli.muster().subagents.list().all()
      await cli.out.rows(all as unknown as Listed[], COLUMNS, 'No sub-agents. Import some: muster subagents import .claude/agents')
    })
  subagents
    .command('show <name>')
    .description('show a definition')
    .action(async (name: string, _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      const found = await cli.muster().subagents.get(name)
      await cli.out.result(found, () => {
        const fields = cli.out.fields([
          ['Name', found.name],
          ['Description', found.description],
          ['Model', found.model],
          ['Version', found.version],
          ['Tools', found.tools.join(', ')],
          ['Warnings', found.warnings.join('\n')],
        ])
        return `${fields}\n\n${clean(found.instructions)}`
      })
    })
  subagents
    .command('import <paths...>')
    .description('import definitions: files in Markdown, folders of them, or one archive (.zip, .tar, .tar.gz)')
    .action(async (paths: string[], _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      const { body, type } = await toUpload(paths)
      const done = await cli.muster().subagents.import(body, type)
      if (cli.out.json) await cli.out.result(done, () => '')
      else await cli.out.rows(done.items, IMPORT_COLUMNS, 'There was no definition among them.')
      cli.out.note(`${done.imported} imported, ${done.renamed} of them renamed, ${done.refused} refused, ${done.ignored} ignored`)
      if (done.refused > 0) process.exitCode = EXIT.failed
    })
  subagents
    .command('rm <name>')
    .description('delete a definition')
    .action(async (name: string, _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      await cli.muster().subagents.delete(name)
      await cli.out.result({ name, deleted: true }, () => `${oneLine(name)}  deleted`)
    })
}

async function toUpload(paths: string[]): Promise<{ body: Uint8Array<ArrayBuffer> | FormData; type: string }> {
  const [first] = paths
  const archive = ARCHIVES.find(([ending]) => ending.test(first as string))
  if (archive !== undefined) {
    if (paths.length > 1) throw usageError('Give one archive, or files and folders.')
    return { body: new Uint8Array(await readFile(first as string).catch(unreadable(first as string))), type: archive[1] }
  }
  const form = new FormData()
  for (const path of paths) {
    const isFolder = (await stat(path).catch(unreadable(path))).isDirectory()
    const files = isFolder ? await markdownFiles(path) : [path]
    for (const file of files) form.append('file', new Blob([new Uint8Array(await readFile(file))]), isFolder ? relative(path, file) : basename(file))
  }
  return { body: form, type: 'multipart/form-data' }
}

async function markdownFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

const unreadable =
  (path: string) =>
  (error: Error): never => {
    throw new CliError(`${path} cannot be read: ${error.message}`)
  }
