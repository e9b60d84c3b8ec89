import type { RequiredOutput } from '../tasks/output-schema.ts'
import type { EvaluatedCriterion, SchemaVerdict } from './criteria.ts'

const PREFIX = 'output:'

/** What the outputs that were asked for add to an evaluation. */
export interface OutputChecks {
  criteria: EvaluatedCriterion[]
  schemaVerdicts: SchemaVerdict[]
}

/**
 * Required outputs that were accepted, as criteria that are met: so that an evaluation rests on more than the word of the agent. Nothing
 * is completed without them, so there are none that are unmet.
 */
export function outputChecks(accepted: readonly RequiredOutput[]): OutputChecks {
  return {
    criteria: accepted.map(({ name }) => ({
      id: `${PREFIX}${name}`,
      text: `Required output "${name}" is delivered and fits its schema`,
      source: 'acceptance',
      required: true,
    })),
    schemaVerdicts: accepted.map(({ name, schema }) => ({
      criterionId: `${PREFIX}${name}`,
      verdict: 'met',
      evidence: schema === null ? 'It is delivered.' : 'It is delivered, and fits its JSON Schema.',
    })),
  }
}

/** Whether a validator has decided the criterion. Check-ins and judges then have no influence on it. */
export function isOutputCriterion({ id }: Pick<EvaluatedCriterion, 'id'>): boolean {
  return id.startsWith(PREFIX)
}

/** What a task was completed with, as one text that can be judged: the summary, then each output under its name, in their order. */
export function completionText(summary: string | null, outputs: Record<string, unknown>): string {
  const parts = Object.entries(outputs).map(([name, value]) => `${name}:\n${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}`)
  return [...(summary === null ? [] : [summary]), ...parts].join('\n\n')
}
