import { createRequire } from 'node:module'

/** The real program of Claude Code, which its SDK brings along for this machine: a development dependency of `packages/runners`. */
export function claudePath(): string {
  const runners = createRequire(new URL('../../runners/package.json', import.meta.url))
  const sdk = createRequire(runners.resolve('@anthropic-ai/claude-agent-sdk'))
  const platform = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`
  for (const name of [platform, `${platform}-musl`]) {
    try {
      return sdk.resolve(`${name}/claude`)
    } catch {
      // The other one is installed then, or none.
    }
  }
  throw new Error(`The program of Claude Code is not installed for ${process.platform}-${process.arch}: run the installation again.`)
}
