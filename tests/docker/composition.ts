import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '../harness/client.ts'
import { until } from '../harness/until.ts'
import { run } from './command.ts'
import type { Engine } from './engine.ts'

/** The services of a checkout's docker-compose.yml, and the API's client. */
export class Composition {
  readonly folder: string
  readonly #env: NodeJS.ProcessEnv
  #key: string | null = null

  /** @param project the name of Compose for what belongs together: two checkouts with the same name share containers and volumes */
  constructor(engine: Engine, folder: string, project: string) {
    this.folder = folder
    this.#env = { ...engine.env, COMPOSE_FILE: 'docker-compose.yml:compose.test.yml', COMPOSE_PROJECT_NAME: project }
  }

  docker(...words: string[]): Promise<string> {
    return run(['docker', ...words], this.#env, this.folder)
  }

  compose(...words: string[]): Promise<string> {
    return this.docker('compose', ...words)
  }

  /** Executes the `sh` blocks of a section of a document, as written. Returns what they printed. */
  async execute(document: string, heading: string): Promise<string> {
    const text = await readFile(join(this.folder, document), 'utf8')
    const section = new RegExp(`^## ${heading}\\n(.*?)(?=^## )`, 'ms').exec(`${text}\n## `)?.[1] ?? ''
    const commands = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block).join('\n')
    if (commands === '') throw new Error(`${document} has no commands below "${heading}".`)
    return await run(['bash', '-euo', 'pipefail', '-c', commands], this.#env, this.folder)
  }

  /** The containers of a service that run. */
  async containers(service: string): Promise<string[]> {
    return (await this.compose('ps', '--quiet', '--status', 'running', service)).split('\n').filter((id) => id !== '')
  }

  async inspect(service: string, template: string): Promise<string[]> {
    const containers = (await this.compose('ps', '--all', '--quiet', service)).split('\n').filter((id) => id !== '')
    return (await this.docker('inspect', '--format', template, ...containers)).trim().split('\n')
  }

  /** Waits until the health check of a service says this of each of its containers. */
  async health(service: string, expected: 'healthy' | 'unhealthy'): Promise<void> {
    await until(
      `${service} is ${expected}`,
      async () => (await this.inspect(service, '{{.State.Health.Status}}')).every((status) => status === expected),
      60_000,
    )
  }

  /** What `npm run image -- scan` says of an image. */
  async scan(image: string): Promise<{ package: string }[]> {
    const command = `'${process.execPath}' scripts/image.ts scan '${image}' || test $? -eq 1`
    const printed = await run(['bash', '-c', command], this.#env, this.folder)
    return printed
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  }

  useKey(key: string): void {
    this.#key = key
  }

  /** Speaks to the API at the port that it has now: a container that is made again gets another. */
  async client(): Promise<Client> {
    const published = (await this.compose('port', 'api', '7300')).trim()
    return new Client(`http://${published}`, this.#key, () => {})
  }

  /** Ends everything and removes its volumes. */
  async remove(): Promise<void> {
    await this.compose('down', '--volumes', '--timeout', '5')
  }
}
