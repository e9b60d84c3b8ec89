import { existsSync } from 'node:fs'
import { compareOrWrite } from './generated-file.ts'
import { finish, repositoryRoot } from './report.ts'

const SOURCE = `${repositoryRoot}/apps/api/src/openapi.ts`

/** The text of `openapi.yaml`, from the routes of the API. */
async function renderOpenApi(): Promise<string> {
  const module = (await import(SOURCE)) as { buildOpenApi: () => Promise<string> }
  return module.buildOpenApi()
}

if (existsSync(SOURCE)) {
  await compareOrWrite('openapi.yaml', await renderOpenApi())
} else {
  finish(['not built yet: apps/api/src/openapi.ts'], '')
}
