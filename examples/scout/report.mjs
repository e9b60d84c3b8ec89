import { wanted } from './orders.mjs'
import { countIn } from './walk.mjs'

const LARGEST = 5
const TYPES = 12

/** The report: Markdown for people, the same as numbers, and one line for a list. */
export function report(brief, found, orders) {
  const files = wanted(orders, found.files)
  const statistics = statisticsOf(found, files, orders)
  const { folder, folders, lines, todos, tests, types, largest, untested, counted } = statistics
  const summary = `${folder}: ${plural(files.length, 'file')} in ${plural(folders, 'folder')}, ${plural(lines, 'line')}, ${plural(todos, 'TODO mark')}, ${plural(tests, 'test file')}.`
  const sections = [
    `# What is in ${oneLine(folder)}`,
    summary,
    table(
      ['Type', 'Files', 'Lines'],
      Object.entries(types)
        .slice(0, TYPES)
        .map(([type, { files: count, lines: sum }]) => [type, count, sum]),
    ),
    `## Largest files\n${largest.map(({ name, bytes, lines: count }) => `- \`${oneLine(name)}\`: ${plural(count, 'line')}, ${plural(bytes, 'byte')}`).join('\n') || '- none'}`,
    found.skipped > 0 && `## Left out\n${plural(found.skipped, 'folder')} below it: this was a quick look.`,
    `## Tests\n${plural(tests, 'test file')}; ${plural(untested, 'code file')} without a test beside it.`,
    marksSection(files, todos),
    counted.length > 0 && `## Counted on request\n${counted.map(({ text, count }) => `- "${oneLine(text)}": ${count}`).join('\n')}`,
    updatesSection(orders),
    brief.task_id && checkIn(brief, found, statistics, orders),
    reflection(brief, found, statistics, orders),
  ]
  return { text: sections.filter(Boolean).join('\n\n'), summary, statistics }
}

function statisticsOf(found, files, orders) {
  const types = {}
  for (const { type, lines } of files) {
    types[type] ??= { files: 0, lines: 0 }
    types[type].files += 1
    types[type].lines += lines
  }
  return {
    folder: found.folder,
    folders: found.folders,
    files: files.length,
    lines: sum(files, 'lines'),
    todos: sum(files, 'marks'),
    tests: files.filter(({ isTest }) => isTest).length,
    untested: files.filter(({ isCode, hasTest }) => isCode && !hasTest).length,
    types: Object.fromEntries(Object.entries(types).sort(([, a], [, b]) => b.lines - a.lines || b.files - a.files)),
    largest: [...files]
      .sort((a, b) => b.bytes - a.bytes)
      .slice(0, LARGEST)
      .map(({ name, bytes, lines }) => ({ name, bytes, lines })),
    counted: orders.counted.map((text) => ({ text, count: files.reduce((count, { path }) => count + countIn(path, text), 0) })),
  }
}

function marksSection(files, todos) {
  const marked = files.filter(({ marks }) => marks > 0).sort((a, b) => b.marks - a.marks)
  if (todos === 0) return '## TODO marks\nNone.'
  return `## TODO marks\n${marked
    .slice(0, LARGEST)
    .map(({ name, marks }) => `- \`${oneLine(name)}\`: ${marks}`)
    .join('\n')}`
}

function updatesSection({ followed, noted }) {
  const lines = [...followed.map((text) => `- Followed: ${oneLine(text)}`), ...noted.map((text) => `- Noted, not followed: ${oneLine(text)}`)]
  return lines.length > 0 && `## Updates received\n${lines.join('\n')}`
}

/** How Scout assesses a criterion: the first matching line decides. It claims nothing that it cannot measure. */
const CRITERIA = [
  [/\bno\b.*\b(?:todo|fixme)/i, ({ todos }) => [todos === 0 ? '✅' : '🐛', plural(todos, 'TODO mark')]],
  [/\b(?:todo|fixme)/i, ({ todos }) => ['✅', `${plural(todos, 'TODO mark')} found and listed`]],
  [/\b(?:every|each|all)\b.*\btests?\b/i, ({ untested }) => [untested === 0 ? '✅' : '🐛', `${plural(untested, 'code file')} without a test beside it`]],
  // A prohibition can seldom be counted.
  [/\b(?:not|never|without)\b/i, () => ['❓', 'not something that counting files can tell']],
  [/\btests?\b/i, ({ tests }) => ['✅', `${plural(tests, 'test file')} counted`]],
  [/\b(?:largest|biggest)\b/i, ({ largest }) => ['✅', `${plural(largest.length, 'file')} listed by size`]],
  [/\blines?\b/i, ({ lines }) => ['✅', `${plural(lines, 'line')} counted`]],
  [/\b(?:types?|extensions?|languages?)\b/i, ({ types }) => ['✅', `${plural(Object.keys(types).length, 'type')} counted`]],
  [/\b(?:files?|folders?|director(?:y|ies))\b/i, ({ files, folders }) => ['✅', `${plural(files, 'file')} in ${plural(folders, 'folder')} counted`]],
  [/\b(?:report|summary|markdown)\b/i, () => ['✅', 'this is it']],
]

function assess(criterion, found, statistics) {
  const known = CRITERIA.find(([pattern]) => pattern.test(criterion.text))
  if (!known) return ['❓', 'not something that counting files can tell']
  const [emoji, evidence] = known[1](statistics)
  // A count of a part does not meet a criterion about the whole.
  return emoji === '✅' && found.skipped > 0
    ? ['📝', `${evidence}, without ${plural(found.skipped, 'folder')} that a quick look leaves out`]
    : [emoji, evidence]
}

function checkIn(brief, found, statistics, orders) {
  const lines = (brief.criteria ?? []).map((criterion) => {
    const [emoji, evidence] = assess(criterion, found, statistics)
    return `  - ${emoji} ${oneLine(criterion.text)}: ${evidence} (${criterion.id})`
  })
  const revision = brief.revision == null ? '' : ` revision="${brief.revision}"`
  const next = orders.noted.length > 0 ? `\nnext_steps:\n${orders.noted.map((text) => `  - Look into: ${oneLine(text)}`).join('\n')}` : ''
  return `<npl-block type="check-in" task-id="${brief.task_id}"${revision}>\nacceptance_criteria:\n${lines.join('\n')}\nstatus: in_progress${next}\n</npl-block>`
}

/** Scout's assessment of its own report. */
function reflection(brief, found, statistics, orders) {
  const unclear = (brief.criteria ?? []).filter((criterion) => assess(criterion, found, statistics)[0] === '❓').length
  const lines = [
    `✅ Read ${plural(found.folders, 'folder')} of ${found.folder} and counted ${plural(statistics.files, 'file')} by type`,
    '✅ Every number is counted from the files, none is estimated',
    orders.followed.length > 0 && `✅ Followed ${plural(orders.followed.length, 'update')} received on the way`,
    orders.noted.length > 0 && `📝 ${plural(orders.noted.length, 'update')} could only be noted`,
    unclear > 0 && `❓ ${unclear} of the criteria cannot be judged by counting`,
    found.skipped > 0 && `📝 ${plural(found.skipped, 'folder')} left to look into: this was a quick look`,
    found.isBounded && '⚠️ The folder is larger than what is read; the numbers are lower bounds',
    found.unread > 0 && `🧩 ${plural(found.unread, 'file')} could not be read`,
    found.links > 0 && `📚 ${plural(found.links, 'link')} not followed`,
  ]
  return `<npl-block type="reflection">\n${lines.filter(Boolean).map(oneLine).join('\n')}\n</npl-block>`
}

function table(head, rows) {
  if (rows.length === 0) return 'No files.'
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** Names and texts of other authors stay on one line and cannot close a block. */
function oneLine(text) {
  return String(text)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .trim()
}

function sum(files, key) {
  return files.reduce((total, file) => total + file[key], 0)
}

/** "1 file", "2 files". */
export function plural(count, noun) {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}
