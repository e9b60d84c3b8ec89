/** An update: its kind, the revision of the task after it, and its content, in a block that ends with the name it begins with. */
const UPDATE =
  /^\[Task Update: ([^\]\n]+)\]\n(?:(?!Revision:|<content-).*\n)*(?:Revision: (\d+)\n)?(?:(?!<content-).*\n)*<(content-[0-9a-z]+)>\n([\s\S]*)\n<\/\3>/
const CHANGES = '\nChanges:\n'
const ASK_TIMEOUT_MS = 5_000

/**
 * The content of an update. A change of the task contains the whole field and then, below "Changes:", the removed and added lines: only
 * the added lines are new. Other updates are returned unchanged.
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
 * Reads the current task: its criteria with their ids, and its outputs. An update says that they changed, but not what they are.
 * If the request fails, the answer is empty and the earlier values remain.
 */
export async function askForBrief(taskId) {
  const { MUSTER_URL, MUSTER_TOKEN } = process.env
  if (!MUSTER_URL || !taskId) return {}
  try {
    const headers = { authorization: `Bearer ${MUSTER_TOKEN}` }
    const answer = await fetch(new URL(`/tasks/${taskId}`, MUSTER_URL), { headers, signal: AbortSignal.timeout(ASK_TIMEOUT_MS) })
    if (!answer.ok) throw new Error(`the answer is ${answer.status}`)
    const { acceptance_criteria, required_outputs, revision } = await answer.json()
    return { criteria: acceptance_criteria, required_outputs, revision }
  } catch (error) {
    console.error(`scout: could not read the task again: ${error.message}`)
    return {}
  }
}
