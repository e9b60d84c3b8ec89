import { settingsSchema } from '@muster/domain'
import { compareOrWrite } from './generated-file.ts'

const HEADER = `# Every setting of the API and the worker, with its default. Copy this file to .env and change what you need.
# An empty or missing variable means the default. All problems are listed at once when a process starts.
# Generated from the settings table of packages/domain: \`npm run check -- --fix\`.
`

/** What the generator reads of a zod schema: enough to say its description and its default. */
interface Described {
  description?: string | undefined
  def: { type: string; defaultValue?: unknown; entries?: Record<string, string>; innerType?: unknown }
}

/** The text of `.env.example`. Lines stay commented out, so that a copied file does not freeze today's defaults. */
export function renderEnvExample(): string {
  const sections = Object.entries(settingsSchema.shape).map(([name, field]) => {
    const schema = field as unknown as Described
    if (!schema.description) throw new Error(`${name} has no description in settingsSchema`)
    const choices = choicesOf(schema)
    const lines = wrap(choices.length > 0 ? `${schema.description} One of: ${choices.join(', ')}.` : schema.description)
    return [...lines.map((line) => `# ${line}`), `#${name}=${defaultOf(schema)}`].join('\n')
  })
  return `${HEADER}\n${sections.join('\n\n')}\n`
}

function defaultOf({ def }: Described): string {
  // A prefault is a text that is parsed as if it had been set.
  if (!['default', 'prefault'].includes(def.type) || def.defaultValue === undefined) return ''
  const value = def.defaultValue
  if (Array.isArray(value)) return value.join(':')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The members of an enum, unless it is the pair true and false or its description names them. */
function choicesOf(schema: Described): string[] {
  const inner = (schema.def.innerType ?? schema) as Described
  const values = inner.def.type === 'enum' ? Object.values(inner.def.entries ?? {}) : []
  return values.every((value) => schema.description?.includes(`${value}:`)) ? [] : values
}

function wrap(text: string, width = 118): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

if (import.meta.main) await compareOrWrite('.env.example', renderEnvExample())
