import { z } from 'zod'

/** What is known of a named schema besides its shape. */
interface ComponentEntry {
  id: string
  /** A request is described as it is sent, an answer as it arrives: defaults are optional in one and always there in the other. */
  io: 'input' | 'output'
  example?: unknown
}

/** Every schema that `openapi.yaml` shows under a name of its own. Filled by the modules that define them. */
export const components = z.registry<ComponentEntry>()

/** Names the schema of an answer, or one that requests and answers share. */
export function component<Schema extends z.ZodType>(id: string, schema: Schema, example?: z.output<Schema>): Schema {
  return add(schema, { id, io: 'output', ...(example === undefined ? {} : { example }) })
}

/** Names the schema of a request's body, or of a part of one. */
export function requestComponent<Schema extends z.ZodType>(id: string, schema: Schema, example?: z.input<Schema>): Schema {
  return add(schema, { id, io: 'input', ...(example === undefined ? {} : { example }) })
}

/** Names the page of a list. */
export function listComponent<Item extends z.ZodType>(id: string, item: Item) {
  const example = components.get(item)?.example as z.output<Item> | undefined
  const schema = z.object({
    items: z.array(item),
    next_cursor: z.string().nullable().describe('Pass as `cursor` to read on; null on the last page.'),
  })
  return add(schema, { id, io: 'output', ...(example === undefined ? {} : { example: { items: [example], next_cursor: null } }) })
}

function add<Schema extends z.ZodType>(schema: Schema, entry: ComponentEntry): Schema {
  // The later one would take the place of the other, and which that is depends on who imports what first.
  if (components._idmap.has(entry.id)) throw new Error(`two schemas are called ${entry.id}`)
  components.add(schema, entry)
  return schema
}

/** All of them in the order of their names: the reference must not depend on who imports what first. */
export function namedComponents(): [string, z.ZodType][] {
  return [...components._idmap].map(([id, schema]): [string, z.ZodType] => [id, schema as z.ZodType]).sort(([one], [other]) => (one < other ? -1 : 1))
}
