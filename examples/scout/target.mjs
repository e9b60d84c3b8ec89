import { realpathSync, statSync } from 'node:fs'
import { basename, relative, resolve, sep } from 'node:path'

/** The word after one of these verbs is meant as a folder, even if it does not exist. */
const AFTER_VERB = /\b(?:inspect|scan|explore|survey|look (?:at|into|through)|folder|directory)\s+(?:the\s+)?(?:folder\s+|directory\s+)?([^\s`"',;]+)/gi
const QUOTED = /`([^`\n]+)`|"([^"\n]+)"/g
const WITH_SLASH = /(?:^|\s)((?:[./~]|[\w@.-]+\/)[\w@./+~-]*)/g

/** Words after a verb that are not a folder: "inspect this repository", "look at all files". */
const NO_FOLDER = /^(?:this|it|its|all|every|each|whole|entire|repository|repo|project|code|files|and|for|in|of|a|an)$/i

/**
 * The folder that a task is about, inside `root`. Returns `{path, name}`, or `{problem}` as text for the author of the task.
 * Outside of the root the answer is always the same, so that it does not reveal what exists there.
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

/** Possible folders, the likeliest first. A plain one is only a word with a slash, such as "and/or". */
function candidates(task) {
  const pick = (pattern, isPlain) => [...task.matchAll(pattern)].map((match) => ({ text: trim(match[1] ?? match[2]), isPlain }))
  const absolute = [...task.matchAll(/(?:^|\s)(\/[^\n`"']+)/g)].flatMap((match) => readings(match[1]))
  const quoted = pick(QUOTED, true).map((candidate) => ({ ...candidate, isPlain: !candidate.text.includes('/') }))
  const named = pick(AFTER_VERB, false).filter(({ text }) => !NO_FOLDER.test(text))
  return [...quoted, ...absolute, ...named, ...pick(WITH_SLASH, true)].filter(({ text }) => text !== '')
}

/** An absolute path may contain blanks, and the sentence continues after it: tries all words first, then fewer. */
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
  // Checked again after links are resolved: a link inside may lead outside.
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
