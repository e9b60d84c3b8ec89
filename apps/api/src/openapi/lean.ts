/** Texts and examples: what people read, and generators of clients do not need. */
const PROSE = ['description', 'summary', 'example', 'examples', 'x-error-codes']
/** Under these, keys are names of the API's own, such as a field called `description`. */
const NAMES = ['properties', 'schemas', 'parameters', 'headers', 'responses', 'securitySchemes', 'paths', 'links']

/** The document without prose and examples, for generators and agents: the same paths, parameters and schemas. */
export function leanDocument(document: object): object {
  return Object.fromEntries(Object.entries(without(document, false) as object).map(([key, value]) => [key, key === 'info' ? infoOf(document) : value]))
}

/** What OpenAPI demands of it. */
function infoOf(document: object): object {
  const { title, version } = (document as { info: { title: string; version: string } }).info
  return { title, version }
}

function without(value: unknown, isNames: boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => without(each, false))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      // An answer is invalid without its description.
      .filter(([key, inner]) => isNames || !PROSE.includes(key) || isAnswer(value, key, inner))
      .map(([key, inner]) => [key, isNames ? without(inner, false) : isAnswer(value, key, inner) ? '' : without(inner, NAMES.includes(key))]),
  )
}

function isAnswer(parent: object, key: string, value: unknown): boolean {
  return (
    key === 'description' &&
    typeof value === 'string' &&
    !('operationId' in parent) &&
    ('content' in parent || 'links' in parent || Object.keys(parent).every((each) => ['description', 'headers'].includes(each)))
  )
}
