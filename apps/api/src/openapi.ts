import { Registry } from 'prom-client'
import { stringify } from 'yaml'
import { describeApi } from './openapi/document.ts'
import { endpoints } from './routes/index.ts'

/** The text of `openapi.yaml`, from the endpoints as they are. Needs no database and no port. */
export async function buildOpenApi(): Promise<string> {
  return renderYaml(describeApi(endpoints(new Registry())))
}

/** Deterministic: the same endpoints give the same lines. As YAML 1.1, because many readers still take an unquoted `off` for false. */
export function renderYaml(document: object): string {
  return stringify(document, { version: '1.1', lineWidth: 140, aliasDuplicateObjects: false, defaultStringType: 'PLAIN', defaultKeyType: 'PLAIN' })
}
