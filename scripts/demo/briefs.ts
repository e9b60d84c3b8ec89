import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from '../system/environment.ts'
import type { Client } from './client.ts'

const GUIDE = 'command-wants-a-terminal'

/** A brief that a person and the scout example can both work on: it is about the folder of this project. */
export const BRIEF = {
  title: 'Survey of the packages',
  instructions: 'Inspect packages and report what is in it.',
  background_context: 'A new maintainer takes over these packages next week, and the report tells where to begin reading.',
  acceptance_criteria: ['The largest files are listed', 'The number of test files is given'],
  constraints: ['Do not change any file'],
  required_outputs: ['report', { name: 'file_count', description: 'files looked at', schema: { type: 'integer', minimum: 1 } }],
  tsgs: [GUIDE],
  priority: 'high',
}

/** The addition to the instructions that makes the second revision. */
export const ADDED = 'Only TypeScript files.'
export const REVISED = { instructions: `${BRIEF.instructions} ${ADDED}` }

/** Imports a guide of this repository, so that the brief can link it. Returns its name. */
export async function importGuide(client: Client): Promise<string> {
  await client.importGuide(GUIDE, await readFile(join(ROOT, 'tsgs', `${GUIDE}.md`), 'utf8'))
  return GUIDE
}
