import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { run } from '../../scripts/check/command.ts'

/** Where the schemas of the resources come from: what Kubernetes and the makers of the other two publish with their sources. */
const KUBERNETES = 'k8s.io/kubernetes@v1.34.1'
const CRDS = [
  { module: 'github.com/kedacore/keda/v2@v2.18.0', file: 'config/crd/bases/keda.sh_scaledobjects.yaml' },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    file: 'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml',
  },
]

interface Schema {
  [key: string]: unknown
  properties?: Record<string, Schema>
}

/** Writes a JSON Schema for each kind of the given ones, as kubeconform reads them: unknown fields are errors. Returns where kubeconform finds them. */
export async function writeSchemas(folder: string, kinds: readonly string[]): Promise<string> {
  await mkdir(folder, { recursive: true })
  const write = (kind: string, version: string, schema: Schema) => writeFile(join(folder, `${kind}-${version}.json`.toLowerCase()), JSON.stringify(schema))
  const { definitions } = JSON.parse(await readFile(join(await download(KUBERNETES), 'api/openapi-spec/swagger.json'), 'utf8')) as {
    definitions: Record<string, Schema>
  }
  const strict = Object.fromEntries(Object.entries(definitions).map(([name, schema]) => [name, adapted(name, schema)]))
  for (const [name, schema] of Object.entries(definitions)) {
    for (const { group, kind, version } of (schema['x-kubernetes-group-version-kind'] ?? []) as { group: string; kind: string; version: string }[]) {
      if (!kinds.includes(kind) || !name.endsWith(`.${kind}`)) continue
      await write(kind, [...(group === '' ? [] : [group.split('.')[0]]), version].join('-'), { $ref: `#/definitions/${name}`, definitions: strict })
    }
  }
  for (const { module, file } of CRDS) {
    const crd = parse(await readFile(join(await download(module), file), 'utf8')) as {
      spec: { group: string; names: { kind: string }; versions: { name: string; schema: { openAPIV3Schema: Schema } }[] }
    }
    for (const { name, schema } of crd.spec.versions)
      await write(crd.spec.names.kind, `${crd.spec.group.split('.')[0]}-${name}`, closed(schema.openAPIV3Schema, true))
  }
  return join(folder, '{{.ResourceKind}}{{.KindSuffix}}.json')
}

/** The folder of a module of Go, as the proxy of Go has it. Nothing of it is compiled. */
async function download(module: string): Promise<string> {
  const { ok, output } = await run('go', ['mod', 'download', '-json', module])
  const { Dir } = JSON.parse(output.slice(output.indexOf('{'))) as { Dir?: string }
  if (!ok || Dir === undefined) throw new Error(`${module} could not be downloaded:\n${output}`)
  return Dir
}

/** Two definitions say less than they accept. */
function adapted(name: string, schema: Schema): Schema {
  if (name.endsWith('.IntOrString')) return { type: ['string', 'integer'] }
  if (name.endsWith('.Quantity')) return { type: ['string', 'number'] }
  return closed(schema)
}

/** Takes no field that it does not name. What stands at the top of a custom resource has the metadata of every resource. */
function closed(schema: Schema, isTop = false): Schema {
  const { properties, ...rest } = schema
  const entries = Object.entries(rest).map(([key, value]) => [key, isSchema(value) ? closed(value) : value])
  const own = Object.fromEntries(entries) as Schema
  if (properties === undefined) return own
  const inner = Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, isTop && key === 'metadata' ? {} : closed(value)]))
  return { ...own, properties: inner, ...(own['x-kubernetes-preserve-unknown-fields'] === true ? {} : { additionalProperties: false }) }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
