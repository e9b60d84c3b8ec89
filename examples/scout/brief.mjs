/** An update: its kind, the revision of the brief after it, and its content, in a block that ends with the name it begins with. */
const UPDATE =
  /^\[Task Update: ([^\]\n]+)\]\n(?:(?!Revision:|<content-).*\n)*(?:Revision: (\d+)\n)?(?:(?!<content-).*\n)*<(content-[0-9a-z]+)>\n([\s\S]*)\n<\/\3>/
const CHANGES = '\nChanges:\n'
const ASK_TIMEOUT_MS = 5_000

/**
 * What an update says. One that changes the brief tells all of it and then, below "Changes:", what went and what came: only what came is
 * new. Any other is said as it stands.
 */
export function readUpdate(text) {
  const update = UPDATE.exec(text)
  const words = update?.[4] ?? text
  const revision = update?.[2] === undefined ? null : Number(update[2])
  const changesBrief = update?.[1].endsWith(' Modified') ?? false
  const changes = words.lastIndexOf(CHANGES)
  if (!changesBrief || changes < 0) return { said: words, revision, changesBrief }
  const lines = words.slice(changes + CHANGES.length).split('\n')
  const came = lines.filter((line) => line.startsWith('+ ')).map((line) => line.slice(2))
  return { said: came.length > 0 ? came.join('\n') : words.slice(0, changes), revision, changesBrief }
}

/**
 * What the brief asks for now: its criteria with their ids, and its outputs. The update says that they changed, this says what they are.
 * Nothing where it cannot be asked, and then what was known before still counts.
 */
export async function askForBrief(taskId) {
  const { MUSTER_URL, MUSTER_TOKEN } = process.env
  if (!MUSTER_URL || !taskId) return {}
  try {
    const headers = { authorization: `Bearer ${MUSTER_TOKEN}` }
    const answer = await fetch(new URL(`/tasks/${taskId}`, MUSTER_URL), { headers, signal: AbortSignal.timeout(ASK_TIMEOUT_MS) })
    if (!answer.ok) throw new Error(`it was answered with ${answer.status}`)
    const { acceptance_criteria, required_outputs, revision } = await answer.json()
    return { criteria: acceptance_criteria, required_outputs, revision }
  } catch (error) {
    console.error(`scout: the brief could not be read again: ${error.message}`)
    return {}
  }
}
