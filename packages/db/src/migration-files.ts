import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const MIGRATIONS = fileURLToPath(new URL('../../../drizzle/', import.meta.url))

/** Names of the migrations of this version, in the order in which they apply. */
export async function knownMigrations(): Promise<string[]> {
  const journal = JSON.parse(await readFile(`${MIGRATIONS}meta/_journal.json`, 'utf8')) as { entries: { tag: string }[] }
  return journal.entries.map((entry) => entry.tag)
}

/** The SQL of one migration. */
export function migrationText(name: string): Promise<string> {
  return readFile(`${MIGRATIONS}${name}.sql`, 'utf8')
}
