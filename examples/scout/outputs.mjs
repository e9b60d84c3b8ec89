/** The values of Scout by their usual names, without `_`, `-` and capitals. */
const VALUES = {
  files: (statistics) => statistics.files,
  filecount: (statistics) => statistics.files,
  folders: (statistics) => statistics.folders,
  foldercount: (statistics) => statistics.folders,
  lines: (statistics) => statistics.lines,
  linecount: (statistics) => statistics.lines,
  todos: (statistics) => statistics.todos,
  todocount: (statistics) => statistics.todos,
  tests: (statistics) => statistics.tests,
  testcount: (statistics) => statistics.tests,
  folder: (statistics) => statistics.folder,
  types: (statistics) => statistics.types,
  bytype: (statistics) => statistics.types,
  largest: (statistics) => statistics.largest,
  largestfiles: (statistics) => statistics.largest,
  statistics: (statistics) => statistics,
  stats: (statistics) => statistics,
}

/** Values by type, for unknown names. */
const BY_TYPE = {
  string: (_statistics, text) => text,
  object: (statistics) => statistics,
  array: (statistics) => statistics.largest,
}

/** Why an output cannot be produced, or null. Checked before the work, because another attempt would not help. */
export function unservable(outputs) {
  const unknown = outputs.filter((output) => sourceOf(output) === undefined).map(({ name }) => `"${name}"`)
  if (unknown.length === 0) return null
  return `Scout cannot produce the required output ${unknown.join(', ')}. It has a report (a string), statistics (an object) and, by name, ${Object.keys(VALUES).join(', ')}.`
}

/** The value of a required output. */
export function outputValue(output, statistics, text) {
  return sourceOf(output)(statistics, text)
}

function sourceOf({ name, schema }) {
  const known =
    VALUES[
      String(name)
        .toLowerCase()
        .replace(/[^a-z]/g, '')
    ]
  // A known name with the type string gets text, such as "files" as a sentence.
  const wantsText = schema?.type === 'string' && name !== 'folder'
  return wantsText ? BY_TYPE.string : (known ?? BY_TYPE[schema?.type ?? 'string'])
}
