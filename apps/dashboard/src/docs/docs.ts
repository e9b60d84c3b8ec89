import '../design/tokens.css'
import '../design/base.css'
import '../design/layout.css'
import '../design/controls.css'
import '../design/data.css'
import './docs.css'
import { startTheme, toggleTheme } from '../design/theme.ts'

startTheme()
if (document.body === null) addEventListener('DOMContentLoaded', start)
else start()

/** Guides are complete as they arrive; the reference is made from the document of this server. */
function start(): void {
  document.getElementById('theme')?.addEventListener('click', toggleTheme)
  const menu = document.querySelector<HTMLDetailsElement>('.docs-menu')
  if (menu !== null && window.matchMedia('(max-width: 60rem)').matches) menu.open = false
  if (document.body.dataset.page === 'reference') void import('./reference.tsx').then(({ showReference }) => showReference())
}
