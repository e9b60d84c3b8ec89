import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DomainError } from '@muster/domain'

/** Where the dashboard and the reference are built to (`apps/dashboard`). They are files only: nothing of them is imported. */
export const BUILT_PAGES = fileURLToPath(new URL('../../../dashboard/dist/', import.meta.url))

/** @throws DomainError `not_found` if a page is not there because nothing has been built */
export function requireBuilt(built: string): void {
  if (!existsSync(`${built}index.html`)) throw new DomainError('not_found', 'The pages are not built. `npm start` builds them, and so does `npm run build`.')
}
