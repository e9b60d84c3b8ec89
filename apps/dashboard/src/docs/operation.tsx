import { CodeBlock } from '../design/code-block.tsx'
import { curlLine } from '../design/empty.tsx'
import { Expandable } from '../design/expandable.tsx'
import { type Answer, type ApiDocument, type Content, type Entry, exampleOf, nameOf, type Parameter, resolve } from './document.ts'
import { Field, Prose, SchemaTree } from './schema-tree.tsx'
import { TryIt } from './try-it.tsx'

/** Everything about one operation: what it does, takes, answers and refuses. */
export function OperationDetails({ document, entry }: { document: ApiDocument; entry: Entry }) {
  const { operation, method, path } = entry
  const parameters = (operation.parameters ?? []).map((parameter) => resolve<Parameter>(document, parameter))
  const body = operation.requestBody
  return (
    <div className="docs-operation">
      <div className="stack">
        <Prose text={operation.description} />
        <p className="hint">
          Operation <code>{operation.operationId}</code>
          {operation['x-required-scope'] !== undefined && (
            <>
              , needs the scope <code>{operation['x-required-scope']}</code>
            </>
          )}
        </p>
        {parameters.length > 0 && (
          <section className="stack tight">
            <h4>Parameters</h4>
            <ul className="docs-fields">
              {parameters.map(({ name, in: place, schema, required, description }) => (
                <Field
                  key={`${place} ${name}`}
                  document={document}
                  name={name}
                  field={description === undefined ? schema : { ...schema, description }}
                  isRequired={required === true}
                  place={`in ${place}`}
                />
              ))}
            </ul>
          </section>
        )}
        {body !== undefined && (
          <section className="stack tight">
            <h4>Body{body.required ? '' : ' (optional)'}</h4>
            <Bodies document={document} content={body.content} />
          </section>
        )}
        <section className="stack tight">
          <h4>Answers</h4>
          {Object.entries(operation.responses).map(
            ([status, answer]) =>
              status !== 'default' && <AnswerRow key={status} document={document} status={status} answer={resolve<Answer>(document, answer)} />,
          )}
        </section>
        <Errors document={document} codes={operation['x-errors'] ?? []} />
      </div>
      <div className="stack">
        <h4>Example</h4>
        <CodeBlock text={sampleOf(document, entry, parameters)} />
        <Expandable summary="Send it from here">
          <TryIt method={method} path={path} parameters={parameters} body={jsonExample(document, body?.content)} />
        </Expandable>
      </div>
    </div>
  )
}

function Bodies({ document, content }: { document: ApiDocument; content: Content }) {
  return Object.entries(content).map(([type, { schema }]) => (
    <div key={type} className="stack tight">
      <p className="hint">
        <code>{type}</code> {nameOf(schema)}
      </p>
      <SchemaTree document={document} schema={schema} />
    </div>
  ))
}

function AnswerRow({ document, status, answer }: { document: ApiDocument; status: string; answer: Answer }) {
  const label = (
    <>
      <span className="badge" data-tone="green">
        {status}
      </span>
      <Prose text={answer.description} />
    </>
  )
  if (answer.content === undefined) return <div className="panel docs-answer">{label}</div>
  return (
    <Expandable summary={label}>
      <Bodies document={document} content={answer.content} />
    </Expandable>
  )
}

function Errors({ document, codes }: { document: ApiDocument; codes: string[] }) {
  if (codes.length === 0) return null
  return (
    <section className="stack tight">
      <h4>Errors of its own</h4>
      <ul className="docs-errors">
        {codes.map((code) => (
          <li key={code}>
            <span className="meta">{document['x-error-codes'][code]?.status}</span>
            <a href={`/docs/errors#${code}`}>
              <code>{code}</code>
            </a>
            <Prose text={document['x-error-codes'][code]?.summary ?? ''} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function jsonExample(document: ApiDocument, content: Content | undefined): string | undefined {
  const json = content?.['application/json']
  return json === undefined ? undefined : JSON.stringify(exampleOf(document, json) ?? {}, null, 2)
}

/** The call as a line of the shell, with the examples of the document. */
function sampleOf(document: ApiDocument, { method, path, operation }: Entry, parameters: Parameter[]): string {
  const filled = parameters.reduce((made, { name, in: place, schema, example }) => {
    const value = example ?? schema.example ?? schema.examples?.[0] ?? resolve(document, schema).example
    return place === 'path' && value !== undefined ? made.replace(`{${name}}`, encodeURIComponent(String(value))) : made
  }, path)
  const json = operation.requestBody?.content['application/json']
  const call = curlLine(filled, json === undefined ? undefined : exampleOf(document, json))
  return method === 'GET' || (method === 'POST' && json !== undefined) ? call : call.replace('curl -s', `curl -s -X ${method}`)
}
