/** What updates can ask for, in words that Scout understands. */
const LANGUAGES = {
  typescript: ['.ts', '.tsx', '.mts', '.cts'],
  javascript: ['.js', '.jsx', '.mjs', '.cjs'],
  markdown: ['.md'],
  python: ['.py'],
  json: ['.json'],
  yaml: ['.yaml', '.yml'],
  sql: ['.sql'],
}

/** Work that was sent back is done thoroughly, however quick a look the task asks for. */
const SENT_BACK = '[Task Update: Revision Requested]'

/**
 * What Scout is told: which files count and how far to look, by its brief from the start, and whatever it hears after it has started.
 */
export function createOrders({ task = '', text = '' } = {}) {
  const isQuick = /\b(?:quick(?:ly)?|glance|briefly)\b/i.test(task) && !String(text).includes(SENT_BACK)
  return { isQuick, only: typesWanted(task), ignored: foldersIgnored(task), counted: [], followed: [], noted: [] }
}

/** Takes an update in, and says how it is followed. One that is not understood is noted, and the report says so. */
export function takeUpdate(orders, { text }) {
  const told = String(text ?? '')
    .replace(/\s+/g, ' ')
    .trim()
  const done = []
  const types = typesWanted(told)
  if (types.length > 0) {
    orders.only = types
    done.push(`only ${types.join(', ')} files count from the first one on`)
  }
  for (const folder of foldersIgnored(told)) {
    orders.ignored.push(folder)
    done.push(`${folder} is left out`)
  }
  for (const [, quoted, word] of told.matchAll(/\bcount\s+(?:how often\s+)?(?:the\s+)?(?:word\s+)?(?:[`"']([^`"']+)[`"']|([^\s.,;]+))/gi)) {
    orders.counted.push(quoted ?? word)
    done.push(`"${quoted ?? word}" is counted`)
  }
  if (done.length === 0) {
    orders.noted.push(told)
    return `Update noted: ${told}`
  }
  orders.followed.push(`${told}: ${done.join('; ')}`)
  return `Update followed: ${done.join('; ')}.`
}

/** The files that are still wanted. Orders hold for files that were read before they came, too. */
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
