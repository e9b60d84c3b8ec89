import { realpathSync, statSync } from 'node:fs'
import { basename, relative, resolve, sep } from 'node:path'

/** What names the thing to inspect: the word after one of these is meant as a folder, even when there is none. */
const AFTER_VERB = /\b(?:inspect|scan|explore|survey|look (?:at|into|through)|folder|directory)\s+(?:the\s+)?(?:folder\s+|directory\s+)?([^\s`"',;]+)/gi
const QUOTED = /`([^`\n]+)`|"([^"\n]+)"/g
const WITH_SLASH = /(?:^|\s)((?:[./~]|[\w@.-]+\/)[\w@./+~-]*)/g

/** Words that follow a verb and are no folder: "inspect this repository", "look at all files". */
const NO_FOLDER = /^(?:this|it|its|all|every|each|whole|entire|repository|repo|project|code|files|and|for|in|of|a|an)$/i

/**
 * The folder that a task is about, inside `root`. Answers `{path, name}`, or `{problem}` in words for whoever wrote the task.
 * Outside of the root the answer is always the same: whether something exists there is nobody's business.
 */
export function findTarget(task, root) {
  const realRoot = real(root)
  if (realRoot === null) return { problem: `SCOUT_ROOT is ${root}, and that folder does not exist.` }
  const meant = candidates(task)
  const problems = []
  for (const { text, isPlain } of meant) {
    const looked = look(text, realRoot)
    if (looked.path) return looked
    if (!isPlain) problems.push(looked.problem)
  }
  return problems.length > 0 ? { problem: problems[0] } : { path: realRoot, name: basename(realRoot) }
}

/** What may be a folder, the likeliest first. A plain one is merely a word with a slash in it, such as "and/or". */
function candidates(task) {
  const pick = (pattern, isPlain) => [...task.matchAll(pattern)].map((match) => ({ text: trim(match[1] ?? match[2]), isPlain }))
  const absolute = [...task.matchAll(/(?:^|\s)(\/[^\n`"']+)/g)].flatMap((match) => readings(match[1]))
  const quoted = pick(QUOTED, true).map((candidate) => ({ ...candidate, isPlain: !candidate.text.includes('/') }))
  const named = pick(AFTER_VERB, false).filter(({ text }) => !NO_FOLDER.test(text))
  return [...quoted, ...absolute, ...named, ...pick(WITH_SLASH, true)].filter(({ text }) => text !== '')
}

/** An absolute path may have blanks in it, and the sentence goes on after it: as many words as there are, then fewer. */
function readings(rest) {
  const words = rest.split(' ').slice(0, 20)
  return words.map((_, dropped) => ({ text: trim(words.slice(0, words.length - dropped).join(' ')), isPlain: dropped < words.length - 1 }))
}

/** Without the punctuation of the sentence around it. */
function trim(text) {
  return text.length > 2 ? text.replace(/[.,;:!?)]+$/, '') : text.replace(/[,;:!?)]+$/, '')
}

function look(text, root) {
  const path = resolve(root, text)
  const outside = { problem: `${text} is outside of the folder that may be inspected (SCOUT_ROOT).` }
  if (!isInside(path, root)) return outside
  const found = real(path)
  if (found === null) return { problem: `The folder ${text} does not exist in the folder that may be inspected (SCOUT_ROOT).` }
  // Looked at again after its links are followed: one inside may lead outside.
  if (!isInside(found, root)) return outside
  if (!statSync(found).isDirectory()) return { problem: `${text} is a file, not a folder.` }
  return { path: found, name: relative(root, found) || basename(root) }
}

function isInside(path, root) {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)
}

function real(path) {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}
