import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { run } from './command.ts'
import { toSync } from './python-sync.ts'
import { pythonWith } from './python-venv.ts'
import { finish, repositoryRoot } from './report.ts'

/**
 * What is generated of `muster-client`: models from `openapi.yaml`, the table of its operations, and the blocking half from the asyncio half. The models need Python, so without
 * `--write` only their fingerprint is compared; tests/client-python.test.ts generates them again.
 */
const PACKAGE = 'clients/python/src/muster_client'
const MODELS = `${PACKAGE}/generated/models.py`
const GENERATOR = 'datamodel-code-generator==0.89.0'
const METHODS = ['get', 'put', 'post', 'delete', 'patch']
/** The server validates; a model that validates as well refuses what a newer server takes. */
const LEFT_OUT = new Set([
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minItems',
  'maxItems',
  'pattern',
  'examples',
  'example',
  'default',
])

type Json = Record<string, unknown>
interface Document {
  paths: Record<string, Record<string, { operationId: string; requestBody?: { content: Json } }>>
  components: { schemas: Json }
}

const document = parse(await readFile(`${repositoryRoot}/openapi.yaml`, 'utf8')) as Document
const schemas = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Muster', version: '1' },
  paths: {},
  components: { schemas: plain(document.components.schemas) },
})
const fingerprint = createHash('sha256').update(GENERATOR).update(schemas).digest('hex').slice(0, 16)
const HEADER = `# Generated from openapi.yaml by scripts/check/python-client.ts. Do not edit: \`npm run check -- --fix\` writes it again.`

/** Schemas without rules about values: ids and addresses are texts. */
function plain(value: unknown, isProperties = false): unknown {
  if (Array.isArray(value)) return value.map((each) => plain(each))
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([name, held]) => isProperties || !(LEFT_OUT.has(name) || (name === 'format' && held !== 'date-time')))
  return Object.fromEntries(kept.map(([name, held]) => [name, plain(held, !isProperties && name === 'properties')]))
}

/** The models, from a Python that is made for it. */
async function renderModels(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'muster-models-'))
  try {
    const [input, output] = [join(folder, 'openapi.json'), join(folder, 'models.py')]
    await writeFile(input, schemas)
    const python = await pythonWith([GENERATOR])
    const options = [
      '--input-file-type=openapi',
      '--output-model-type=pydantic_v2.BaseModel',
      '--target-python-version=3.10',
      '--enum-field-as-literal=all',
      '--use-schema-description',
      '--use-field-description',
      '--use-standard-collections',
      '--use-union-operator',
      '--collapse-root-models',
      '--output-datetime-class=datetime',
      '--extra-fields=allow',
      // A schema without a name is named after where it stands, so that it takes no name of another.
      '--naming-strategy=full-path',
      '--disable-timestamp',
      '--disable-future-imports',
      '--formatters',
      'black',
    ]
    const done = await run(python, ['-m', 'datamodel_code_generator', `--input=${input}`, `--output=${output}`, ...options])
    if (!done.ok) throw new Error(`datamodel-code-generator: ${done.output}`)
    const text = (await readFile(output, 'utf8')).replace(/^#.*\n/gm, '').trimStart()
    // A newer server may answer a value that this client does not know.
    return `${HEADER}\n# Of schemas ${fingerprint}.\n${text.replaceAll(/Literal\[[^\]]*\]/g, (literal) => `${literal} | str`)}`
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function renderOperations(): string {
  const rows = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method]
      if (operation === undefined) return []
      const types = Object.keys(operation.requestBody?.content ?? {})
      const type = types.length === 0 || types.includes('application/json') ? 'application/json' : types[0]
      return [`    "${operation.operationId}": ("${method.toUpperCase()}", "${path}", "${type}"),`]
    }),
  )
  return `${HEADER}\n"""How each operation is called: method, path, and media type of the body."""\n\nOPERATIONS: dict[str, tuple[str, str, str]] = {\n${rows.join('\n')}\n}\n`
}

async function renderAll(): Promise<Map<string, string>> {
  const files = new Map([[`${PACKAGE}/generated/operations.py`, renderOperations()]])
  for (const name of await readdir(`${repositoryRoot}/${PACKAGE}/_async`)) {
    if (!name.endsWith('.py') || name === 'worker.py') continue
    files.set(`${PACKAGE}/_sync/${name}`, toSync(await readFile(`${repositoryRoot}/${PACKAGE}/_async/${name}`, 'utf8'), name))
  }
  return files
}

const committed = (path: string) => readFile(`${repositoryRoot}/${path}`, 'utf8').catch(() => '')
const files = await renderAll()
const isCurrent = (await committed(MODELS)).includes(`# Of schemas ${fingerprint}.\n`)
const isWhole = process.argv.includes('--models')
if (isWhole || (process.argv.includes('--write') && !isCurrent)) files.set(MODELS, await renderModels())

const problems: string[] = []
for (const [path, content] of files) {
  if ((await committed(path)) === content) continue
  if (process.argv.includes('--write')) await writeFile(`${repositoryRoot}/${path}`, content)
  else problems.push(`${path} is not what is generated; \`npm run check -- --fix\` writes it`)
}
if (!isCurrent && !files.has(MODELS)) problems.push(`${MODELS} is of other schemas than openapi.yaml has; \`npm run check -- --fix\` writes it`)
finish(problems, `${files.size} files are in step`)
