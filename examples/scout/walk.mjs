import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'

/** The limits of a report, because a folder can have any size. */
export const LIMITS = { folders: 1_000, files: 10_000, depth: 20, fileBytes: 1024 * 1024 }

const SKIPPED = new Set(['node_modules', '.git'])
const CODE = new Set([
  '.ts',
  '.tsx',
  '.mts',
  '.cts',
  '.js',
  '.jsx',
  '.mjs',
  '.cjs',
  '.py',
  '.go',
  '.rs',
  '.java',
  '.rb',
  '.c',
  '.cc',
  '.cpp',
  '.h',
  '.sh',
  '.sql',
])
const TEST_NAME = /(?:\.|_|-)(?:test|spec)\.\w+$|^test_\w+\.py$/
const MARK = /\b(?:TODO|FIXME|XXX)\b/g

/** The folders below `root`, itself as '' first, by name. Links are not followed. */
export function listFolders(root) {
  const folders = ['']
  for (const folder of folders) {
    if (folders.length >= LIMITS.folders) break
    if (folder.split('/').length > LIMITS.depth) continue
    for (const entry of entries(join(root, folder))) {
      if (entry.isDirectory() && !SKIPPED.has(entry.name) && folders.length < LIMITS.folders)
        folders.push(folder === '' ? entry.name : `${folder}/${entry.name}`)
    }
  }
  return folders
}

/** One folder: a record for each file, and the number of unreadable files and of links. */
export function inspectFolder(root, folder) {
  const files = []
  let unread = 0
  let links = 0
  const all = entries(join(root, folder))
  const names = new Set(all.map(({ name }) => name))
  for (const entry of all) {
    if (entry.isSymbolicLink()) links += 1
    if (!entry.isFile()) continue
    try {
      files.push(inspectFile(join(root, folder, entry.name), entry.name, folder, names))
    } catch {
      unread += 1
    }
  }
  return { files, unread, links }
}

/** How often a text occurs in a file, in any case. */
export function countIn(path, wanted) {
  try {
    return readText(path).toLowerCase().split(wanted.toLowerCase()).length - 1
  } catch {
    return 0
  }
}

function inspectFile(path, name, folder, names) {
  const text = readText(path)
  const type = extname(name).toLowerCase()
  const isTest = TEST_NAME.test(name)
  const stem = name.slice(0, name.length - type.length)
  const lines = text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  return {
    path,
    name: folder === '' ? name : `${folder}/${name}`,
    type: type || 'no extension',
    bytes: statSync(path).size,
    lines,
    marks: text.match(MARK)?.length ?? 0,
    isTest,
    isCode: CODE.has(type) && !isTest,
    hasTest: ['.test', '.spec', '_test'].some((suffix) => names.has(`${stem}${suffix}${type}`)),
  }
}

/** The first megabyte of a text, or an empty string for binary files. */
function readText(path) {
  const bytes = statSync(path).size > LIMITS.fileBytes ? readStart(path) : readFileSync(path)
  return bytes.subarray(0, 8_192).includes(0) ? '' : bytes.toString('utf8')
}

function readStart(path) {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(LIMITS.fileBytes)
    return bytes.subarray(0, readSync(file, bytes))
  } finally {
    closeSync(file)
  }
}

function entries(path) {
  try {
    return readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return []
  }
}
