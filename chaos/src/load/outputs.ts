/** Outputs that briefs of this load ask for. Also read by the programs that run them. */
export const OUTPUT_NAMES = ['report', 'figures', 'sources'] as const
type OutputName = (typeof OUTPUT_NAMES)[number]

const SCHEMAS: Partial<Record<OutputName, Record<string, unknown>>> = { figures: { type: 'array', items: { type: 'number' }, minItems: 1 } }

/** As a brief asks for them. */
export function toRequiredOutputs(names: readonly OutputName[]): (string | { name: string; schema: unknown })[] {
  return names.map((name) => (SCHEMAS[name] === undefined ? name : { name, schema: SCHEMAS[name] }))
}

/** The names that a change of the brief asks for from then on; null where it is about something else. */
export function requiredIn(text: string): string[] | null {
  const line = /^Required Outputs: (.*)$/m.exec(text)?.[1]
  return line === undefined ? null : OUTPUT_NAMES.filter((name) => line.includes(name))
}

/** Values that fit, each with who made it. */
export function outputsFor(names: readonly string[], maker: string): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, name === 'figures' ? [maker.length] : `${name} by ${maker}`]))
}

/** Whether the results of a subtask are poor: by its id, so that the checks know it too. */
export function isPoor(subtaskId: string): boolean {
  return Number.parseInt(subtaskId.slice(-1), 16) < 8
}

/** Checks of this load. All execute the same program. */
export const CHECK_NAMES = ['one', 'other'] as const

/** What the program of a check decides: by the id of the check, so that what is stored can be compared with it. */
export function doesPass(checkRunId: string): boolean {
  return Number.parseInt(checkRunId.slice(-1), 16) < 10
}

/** The text of a result's author about the result. */
export function reflectionOn(subtaskId: string): string {
  const lines = isPoor(subtaskId) ? ['🐛 half of it is missing', '🐛 the other half is wrong'] : ['✅ all of it is there', '✅ none of it is wrong']
  return `<npl-block type="reflection">\n${lines.join('\n')}\n</npl-block>`
}

/** Ids of the updates that a text consists of, in their order. */
export function updateIdsIn(text: string): string[] {
  return [...text.matchAll(/^Update id: (\S+)$/gm)].map(([, id]) => id as string)
}
