/** More of a message does not help to find a guide. Its end is kept, where a failure stands. */
const LONGEST = 20_000

/** The text of a message of any SDK: a string, or parts with texts, results of tools among them. */
export function textOfMessage(message: unknown): string {
  return textsIn(message, 0).join('\n').slice(-LONGEST)
}

/** Fields that hold what was said, in the messages of OpenAI, Anthropic and the AI SDK. */
const FIELDS = ['text', 'content', 'output', 'value', 'result'] as const
const DEEPEST = 6

function textsIn(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return []
  if (Array.isArray(value)) return value.flatMap((each) => textsIn(each, depth + 1))
  return FIELDS.flatMap((field) => (field in value ? textsIn((value as Record<string, unknown>)[field], depth + 1) : []))
}
