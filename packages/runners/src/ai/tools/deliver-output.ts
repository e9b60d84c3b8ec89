import { outputProblems, type RequiredOutput } from '@muster/domain'
import { z } from 'zod'
import { LIMITS } from '../../command/transcript.ts'
import { type AiTool, defineTool, ToolError } from './tool.ts'

/** The named outputs of a run, as far as they have been delivered. */
export interface Outputs {
  readonly delivered: Record<string, unknown>
  /** What is still missing or does not fit, in the words that the refusal of a result has. */
  problems(): string[]
}

/** Where a model puts what its result has to contain. Each value is held against its schema at once, while it can still be mended. */
export function deliverOutputTool(required: readonly RequiredOutput[]): { tool: AiTool; outputs: Outputs } {
  const delivered: Record<string, unknown> = {}
  const names = required.map(({ name }) => name)
  const tool = defineTool({
    name: 'deliver_output',
    description: `Delivers one required output by its name. Required are: ${names.join(', ')}. A name may be delivered again; the last value counts.`,
    inputSchema: z.object({ name: z.string(), value: z.unknown().describe('any JSON value that fits the schema of the output') }),
    async run({ name, value }) {
      const output = required.find((each) => each.name === name)
      if (output === undefined) throw new ToolError(`There is no required output "${name}". Required are: ${names.join(', ')}.`)
      if (Buffer.byteLength(JSON.stringify(value ?? null)) > LIMITS.maxOutputBytes) throw new ToolError(`An output may have ${LIMITS.maxOutputBytes} bytes.`)
      const [problem] = outputProblems([output], { [name]: value })
      // Models that can only say text give an object as its JSON.
      const read = problem !== undefined && typeof value === 'string' ? parsed(value) : undefined
      if (problem !== undefined && (read === undefined || outputProblems([output], { [name]: read }).length > 0)) {
        throw new ToolError(`"${name}" ${problem.reason}.`)
      }
      delivered[name] = problem === undefined ? value : read
      return `"${name}" is delivered.`
    },
  })
  return {
    tool,
    outputs: { delivered, problems: () => outputProblems(required, delivered).map(({ name, reason }) => `${name} ${reason}`) },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
