import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import ReactMarkdown, { type Components } from 'react-markdown'
import rehypeHighlight from 'rehype-highlight'
import rehypeSanitize from 'rehype-sanitize'
import rehypeSlug from 'rehype-slug'
import remarkGfm from 'remark-gfm'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Guides in the order of the menu. Files of `docs/` that are not named here come last, so that a new one is shown as well. */
const GROUPS: readonly { label: string; names: readonly string[] }[] = [
  { label: 'Work', names: ['subtask-lifecycle', 'task-lifecycle', 'questions', 'schedules', 'deliveries', 'agent-text'] },
  { label: 'Agents', names: ['subagents', 'troubleshooting-guides', 'runner-ai', 'runner-claude-code', 'claude-code', 'mcp'] },
  { label: 'Clients', names: ['clients', 'cli', 'client-typescript', 'client-python', 'example-claude-code', 'example-ai-sdk', 'example-python', 'errors'] },
  { label: 'Quality', names: ['evaluation', 'memory', 'usage'] },
  {
    label: 'Operations',
    names: [
      'dashboard',
      'screens',
      'operations',
      'backup',
      'storage',
      'upgrades',
      'limits',
      'sandbox',
      'kubernetes',
      'sharding',
      'reliability',
      'performance',
      'security',
    ],
  },
]
const LAST_GROUP = 'More'
const DECISIONS = 'Decisions'

/** Documents outside of `docs/` that guides lead to. */
const ELSEWHERE: Record<string, string> = {
  security: 'SECURITY.md',
  architecture: 'ARCHITECTURE.md',
  glossary: 'GLOSSARY.md',
  changelog: 'CHANGELOG.md',
  'client-typescript': 'packages/client/README.md',
  'client-python': 'clients/python/README.md',
  'example-claude-code': 'examples/claude-code/README.md',
  'example-ai-sdk': 'examples/ai-sdk/README.md',
  'example-python': 'examples/python/README.md',
}

export interface Guide {
  /** Its path below `/docs/`. */
  name: string
  /** Its path in the repository. */
  file: string
  title: string
  group: string
  markdown: string
}

/** Every guide, in the order of the menu. @throws Error if a document that is named here does not exist */
export function readGuides(): Guide[] {
  const files = new Map(Object.entries(ELSEWHERE))
  for (const folder of ['', 'adr/']) {
    for (const file of readdirSync(join(ROOT, 'docs', folder)).sort()) {
      if (file.endsWith('.md')) files.set(`${folder}${basename(file, '.md')}`, `docs/${folder}${file}`)
    }
  }
  const order = GROUPS.flatMap(({ names }) => names)
  const groupOf = (name: string) => GROUPS.find(({ names }) => names.includes(name))?.label ?? (name.startsWith('adr/') ? DECISIONS : LAST_GROUP)
  const place = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length + (groupOf(name) === DECISIONS ? 1 : 0))
  return [...files]
    .sort(([a], [b]) => place(a) - place(b))
    .map(([name, file]) => {
      const markdown = readFileSync(join(ROOT, file), 'utf8')
      return { name, file, title: /^# (.+)$/m.exec(markdown)?.[1]?.replaceAll('`', '') ?? name, group: groupOf(name), markdown }
    })
}

/** Where a link of a guide leads on the site; undefined for files of the repository that are no guides. */
function siteAddress(link: string, from: Guide, guides: readonly Guide[]): string | undefined {
  if (/^(https?:|#)/.test(link)) return link
  const [path = '', anchor] = link.split('#')
  const file = normalize(join(dirname(from.file), path))
  if (file.startsWith('docs/images/')) return `/${file}`
  const found = guides.find((guide) => guide.file === file)
  if (found === undefined) return undefined
  return `/docs/${found.name}${anchor === undefined ? '' : `#${anchor}`}`
}

/** The images that guides show, as paths in the repository. */
export function imagesOf(guides: readonly Guide[]): string[] {
  const shown = guides.flatMap((guide) =>
    [...guide.markdown.matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)].map(([, link = '']) => siteAddress(link, guide, guides) ?? ''),
  )
  return [...new Set(shown)].filter((path) => path.startsWith('/docs/images/')).map((path) => join(ROOT, path))
}

/** The text of a guide as HTML without scripts and styles, with links that lead to other guides. */
export function renderGuide(guide: Guide, guides: readonly Guide[]): string {
  const components: Components = {
    a: ({ href = '', children }) => {
      const address = siteAddress(href, guide, guides)
      if (address === undefined) return createElement('span', { className: 'docs-file', title: `${href}, in the repository` }, children)
      return createElement('a', { href: address, ...(address.startsWith('http') && { rel: 'noopener noreferrer' }) }, children)
    },
    img: ({ src, alt }) => createElement('img', { src: typeof src === 'string' ? siteAddress(src, guide, guides) : undefined, alt, loading: 'lazy' }),
    // A region that scrolls has to be reachable by keyboard.
    table: ({ children }) =>
      createElement('section', { className: 'table-scroll', tabIndex: 0, 'aria-label': 'Table' }, createElement('table', null, children)),
    pre: ({ children }) => createElement('pre', { className: 'code', tabIndex: 0 }, children),
    // Alignment would be a style of its own, which the policy of the page refuses.
    th: ({ children }) => createElement('th', null, children),
    td: ({ children }) => createElement('td', null, children),
  }
  return renderToStaticMarkup(
    createElement(
      ReactMarkdown,
      {
        skipHtml: true,
        remarkPlugins: [remarkGfm],
        // Sanitised first: what the other two add is ours.
        rehypePlugins: [rehypeSanitize, rehypeSlug, [rehypeHighlight, { plainText: ['', 'text'] }]],
        components,
      },
      guide.markdown,
    ),
  )
}

/** What the filter of the reference finds a guide by: each word of it, once. */
export function wordsOf({ markdown }: Guide): string {
  return [...new Set(markdown.toLowerCase().match(/[\p{L}\p{N}_-]{2,}/gu))].join(' ')
}

/** The menu of guides, with the one that is shown marked. */
export function renderMenu(guides: readonly Guide[], current: Guide | undefined): string {
  const groups = [...new Set(guides.map(({ group }) => group))]
  const link = (guide: Guide) =>
    createElement(
      'li',
      { key: guide.name },
      createElement('a', { href: `/docs/${guide.name}`, 'aria-current': guide === current ? 'page' : undefined }, guide.title),
    )
  return groups
    .map((group) => {
      const inside = guides.filter((guide) => guide.group === group)
      const list = createElement('ul', null, inside.map(link))
      // Long lists of rarely read documents stay closed.
      if (group !== DECISIONS) return renderToStaticMarkup(createElement('div', { className: 'docs-group' }, createElement('h2', null, group), list))
      const open = current?.group === group
      return renderToStaticMarkup(createElement('details', { className: 'docs-group', open }, createElement('summary', null, group), list))
    })
    .join('')
}
