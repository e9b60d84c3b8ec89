import { readFile } from 'node:fs/promises'
import openapiTypescript, { astToString, type OpenAPI3 } from 'openapi-typescript'
import { parse } from 'yaml'
import { compareOrWrite } from './generated-file.ts'
import { repositoryRoot } from './report.ts'

const FOLDER = 'packages/client/src/generated'
const METHODS = ['get', 'put', 'post', 'delete', 'patch']
/** `Subtask` beside `components['schemas']['Subtask']`. */
const NAMED = { rootTypes: true, rootTypesNoSchemaPrefix: true, rootTypesKeepCasing: true }
const JSON_TYPE = 'application/json'

interface OperationObject {
  operationId: string
  requestBody?: { content: Record<string, unknown> }
}

const HEADER = '// Generated from openapi.yaml by scripts/check/client-types.ts. Do not edit: `npm run check -- --fix` writes it again.\n'

const document = parse(await readFile(`${repositoryRoot}/openapi.yaml`, 'utf8')) as OpenAPI3

/** The core of `@muster/client`: the types of `openapi.yaml`. */
async function renderTypes(): Promise<string> {
  return HEADER + astToString(await openapiTypescript(structuredClone(document), NAMED))
}

/** Its operations as `METHOD /path [type of the body unless JSON]`. Apart from the types, which take long to load and are never run. */
function renderOperations(): string {
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = (item as Record<string, OperationObject | undefined>)[method]
      return operation === undefined ? [] : [`  ${operation.operationId}: '${method.toUpperCase()} ${path}${bodyType(operation)}',`]
    }),
  )
  return `${HEADER}import type { operations } from './openapi.ts'

/** How each operation is called. */
export const OPERATIONS = {
${operations.join('\n')}
} as const satisfies Record<keyof operations, string>
`
}

function bodyType({ requestBody }: OperationObject): string {
  const types = Object.keys(requestBody?.content ?? {})
  return types.length === 0 || types.includes(JSON_TYPE) ? '' : ` ${types[0]}`
}

await compareOrWrite(`${FOLDER}/openapi.ts`, await renderTypes())
await compareOrWrite(`${FOLDER}/operations.ts`, renderOperations())
