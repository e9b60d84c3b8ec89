/** The languages that an update can name. */
const LANGUAGES = {
  typescript: ['.ts', '.tsx', '.mts', '.cts'],
  javascript: ['.js', '.jsx', '.mjs', '.cjs'],
  markdown: ['.md'],
  python: ['.py'],
  json: ['.json'],
  yaml: ['.yaml', '.yml'],
  sql: ['.sql'],
}

/** After a request for revision, Scout reads everything, even if the task asks for a quick look. */
const SENT_BACK = '[Task Update: Revision Requested]'

/** The orders that Scout follows: which files count, and how far to look. The prompt sets them, and later updates change them. */
export function createOrders({ task = '', text = '' } = {}) {
  const isQuick = /\b(?:quick(?:ly)?|glance|briefly)\b/i.test(task) && !String(text).includes(SENT_BACK)
  return { isQuick, only: typesWanted(task), ignored: foldersIgnored(task), counted: [], followed: [], noted: [] }
}

/** Applies an update, and says how. An update that Scout does not understand is noted, and the report says so. */
export function takeUpdate(orders, { text }) {
  const content = String(text ?? '')
    .replace(/\s+/g, ' ')
    .trim()
  const done = []
  const types = typesWanted(content)
  if (types.length > 0) {
    orders.only = types
    done.push(`only ${types.join(', ')} files count from the first one on`)
  }
  for (const folder of foldersIgnored(content)) {
    orders.ignored.push(folder)
    done.push(`${folder} is left out`)
  }
  for (const [, quoted, word] of content.matchAll(/\bcount\s+(?:how often\s+)?(?:the\s+)?(?:word\s+)?(?:[`"']([^`"']+)[`"']|([^\s.,;]+))/gi)) {
    orders.counted.push(quoted ?? word)
    done.push(`"${quoted ?? word}" is counted`)
  }
  if (done.length === 0) {
    orders.noted.push(content)
    return `Update noted: ${content}`
  }
  orders.followed.push(`${content}: ${done.join('; ')}`)
  return `Update followed: ${done.join('; ')}.`
}

/** The files that still count. Orders also apply to files that were read before them. */
export function wanted(orders, files) {
  return files.filter(
    ({ name, type }) => (orders.only.length === 0 || orders.only.includes(type)) && !orders.ignored.some((folder) => `/${name}`.includes(`/${folder}/`)),
  )
}

function typesWanted(text) {
  const only = /\b(?:only|focus on|nothing but)\b(.*)/i.exec(text)
  return only ? typesIn(only[1]) : []
}

function foldersIgnored(text) {
  const named = text.matchAll(/\b(?:ignore|skip|exclude|leave out)\s+(?:the\s+)?(?:folder\s+)?[`"']?([\w@./-]*[\w@-])/gi)
  return [...named].map(([, folder]) => folder.replace(/^\.?\//, ''))
}

function typesIn(text) {
  const named = Object.entries(LANGUAGES).flatMap(([language, types]) => (new RegExp(`\\b${language}\\b`, 'i').test(text) ? types : []))
  const written = [...text.matchAll(/(?:^|[\s*`"'(])(\.[a-z0-9]{1,8})\b/gi)].map(([, type]) => type.toLowerCase())
  return [...new Set([...named, ...written])]
}
