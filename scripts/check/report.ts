import { fileURLToPath } from 'node:url'

/** The folder that holds package.json, without a slash at the end. */
export const repositoryRoot = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

/** Ends a check that runs as a process of its own: prints what it found, and fails if that is anything. */
export function finish(problems: readonly string[], good: string): void {
  if (problems.length === 0) {
    console.log(good)
    return
  }
  for (const problem of problems) console.error(`- ${problem}`)
  process.exitCode = 1
}
