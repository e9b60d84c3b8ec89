import ReactMarkdown from 'react-markdown'
import { Expandable } from '../design/expandable.tsx'
import { type ApiDocument, nameOf, resolve, type Schema } from './document.ts'

/** A text of the document, which may have code and links in it. */
export function Prose({ text }: { text: string }) {
  return (
    <div className="prose">
      <ReactMarkdown skipHtml>{text}</ReactMarkdown>
    </div>
  )
}

/** What a value may be, in words: `string (uuid) or null`. */
function typeOf(document: ApiDocument, schema: Schema): string {
  const name = nameOf(schema)
  const { type, format, items, anyOf, oneOf, enum: values, const: only } = name === undefined ? schema : resolve(document, schema)
  const choices = anyOf ?? oneOf
  if (choices !== undefined) return choices.map((each) => typeOf(document, each)).join(' or ')
  if (only !== undefined) return JSON.stringify(only)
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ')
  const types = [type ?? 'any'].flat()
  return types
    .map((each) => {
      if (each === 'array') return `array of ${items === undefined ? 'any' : typeOf(document, items)}`
      if (each === 'object' && name !== undefined) return name
      return format !== undefined && each !== 'null' ? `${each} (${format})` : each
    })
    .join(' or ')
}

function limitsOf({ minimum, maximum, minLength, maxLength, minItems, maxItems, pattern, default: preset }: Schema): string[] {
  const range = (from: number | undefined, to: number | undefined, unit: string) =>
    from === undefined && to === undefined
      ? []
      : [`${from === undefined ? `at most ${to}` : to === undefined ? `at least ${from}` : `${from} to ${to}`}${unit}`]
  return [
    ...range(minimum, maximum, ''),
    ...range(minLength, maxLength, ' characters'),
    ...range(minItems, maxItems, ' items'),
    ...(pattern === undefined ? [] : [pattern]),
    ...(preset === undefined ? [] : [`default ${JSON.stringify(preset)}`]),
  ]
}

/** The object that is inside a schema, behind lists and null. */
function innerObject(document: ApiDocument, schema: Schema): Schema | undefined {
  const found = resolve(document, schema)
  if (found.properties !== undefined) return found
  if (found.items !== undefined) return innerObject(document, found.items)
  for (const each of found.anyOf ?? found.oneOf ?? []) {
    const inner = innerObject(document, each)
    if (inner !== undefined) return inner
  }
  return undefined
}

/** The fields of an object, with those of inner objects to open. */
export function SchemaTree({ document, schema }: { document: ApiDocument; schema: Schema }) {
  const inner = innerObject(document, schema)
  if (inner === undefined) return <p className="hint">{typeOf(document, schema)}</p>
  return (
    <ul className="docs-fields">
      {Object.entries(inner.properties ?? {}).map(([name, field]) => (
        <Field key={name} document={document} name={name} field={field} isRequired={inner.required?.includes(name) === true} />
      ))}
    </ul>
  )
}

interface FieldProps {
  document: ApiDocument
  name: string
  field: Schema
  isRequired: boolean
  /** Where a parameter is sent. */
  place?: string
}

/** One field or parameter: name, type, limits, meaning. */
export function Field({ document, name, field, isRequired, place }: FieldProps) {
  const inner = innerObject(document, field)
  const description = field.description ?? resolve(document, field).description
  return (
    <li>
      <div className="docs-field">
        <code>{name}</code>
        <span className="docs-type">{typeOf(document, field)}</span>
        {place !== undefined && <span className="hint">{place}</span>}
        {isRequired && <span className="docs-required">required</span>}
        {limitsOf(field).map((limit) => (
          <span key={limit} className="hint">
            {limit}
          </span>
        ))}
      </div>
      {description !== undefined && <Prose text={description} />}
      {inner !== undefined && (
        <Expandable summary={`Fields of ${name}`}>
          <SchemaTree document={document} schema={inner} />
        </Expandable>
      )}
    </li>
  )
}
