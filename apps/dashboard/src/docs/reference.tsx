import { StrictMode, useDeferredValue, useEffect, useState, useSyncExternalStore } from 'react'
import { createPortal } from 'react-dom'
import { createRoot } from 'react-dom/client'
import { type ApiDocument, type Entry, entriesOf, matches } from './document.ts'
import { OperationDetails } from './operation.tsx'
import { Prose } from './schema-tree.tsx'

/** Shows the reference of this server in the place of the page's content. */
export async function showReference(): Promise<void> {
  const main = document.getElementById('main') as HTMLElement
  const root = createRoot(main)
  // What was typed before this ran counts more.
  if (filterField().value === '') filterField().value = new URLSearchParams(window.location.search).get('q') ?? ''
  const response = await fetch('/openapi.json').catch(() => undefined)
  if (response === undefined || !response.ok) {
    root.render(<p className="empty">The server did not answer with its document. Load this page again.</p>)
    return
  }
  const api = (await response.json()) as ApiDocument
  root.render(
    <StrictMode>
      <Reference api={api} entries={entriesOf(api)} />
    </StrictMode>,
  )
}

function Reference({ api, entries }: { api: ApiDocument; entries: Entry[] }) {
  const filter = useFilter()
  const wanted = useAddressed()
  const shown = filter === '' ? entries : entries.filter(({ words }) => matches(words, filter))
  const guides = useGuides(filter)
  const tags = api.tags
    .map((tag) => ({ ...tag, entries: shown.filter(({ operation }) => operation.tags.includes(tag.name)) }))
    .filter((tag) => tag.entries.length > 0)
  return (
    <>
      <header className="docs-intro stack">
        <h1>
          API reference <span className="meta">{api.info.version}</span>
        </h1>
        <Prose text={api.info.description} />
        <p className="hint" role="status">
          {filter === '' ? `${entries.length} operations` : `${shown.length} of ${entries.length} operations and ${guides.length} guides match “${filter}”`}
        </p>
      </header>
      {guides.length > 0 && (
        <section className="docs-tag" aria-labelledby="tag-guides">
          <h2 id="tag-guides">Guides</h2>
          <ul className="docs-found">
            {guides.map(({ name, title }) => (
              <li key={name}>
                <a href={`/docs/${name}`}>{title}</a>
              </li>
            ))}
          </ul>
        </section>
      )}
      {tags.map((tag) => (
        <section key={tag.name} className="docs-tag" aria-labelledby={idOf(tag.name)}>
          <h2 id={idOf(tag.name)}>{tag.name}</h2>
          <p className="hint">{tag.description}</p>
          {tag.entries.map((entry) => (
            <OperationRow key={entry.operation.operationId} api={api} entry={entry} isWanted={wanted === entry.operation.operationId} />
          ))}
        </section>
      ))}
      {createPortal(
        <div className="docs-group">
          <h2>Reference</h2>
          <ul>
            {tags.map(({ name, entries: inside }) => (
              <li key={name}>
                <a href={`#${idOf(name)}`}>
                  {name}
                  <span className="count">{inside.length}</span>
                </a>
              </li>
            ))}
          </ul>
        </div>,
        document.getElementById('operations') as HTMLElement,
      )}
    </>
  )
}

/** One line until it is opened. Its details exist only while it is open. */
function OperationRow({ api, entry, isWanted }: { api: ApiDocument; entry: Entry; isWanted: boolean }) {
  const { method, path, operation } = entry
  const [isOpen, setOpen] = useState(isWanted)
  useEffect(() => {
    if (!isWanted) return
    setOpen(true)
    document.getElementById(operation.operationId)?.scrollIntoView()
  }, [isWanted, operation.operationId])
  const toggled = (next: boolean) => {
    setOpen(next)
    if (next) window.history.replaceState(null, '', `#${operation.operationId}`)
  }
  return (
    <details
      className="panel docs-row"
      id={operation.operationId}
      open={isOpen}
      onToggle={(event) => event.currentTarget.open !== isOpen && toggled(event.currentTarget.open)}
    >
      <summary>
        <span className="docs-method" data-method={method}>
          {method}
        </span>
        <code className="docs-path">{path}</code>
        <span className="docs-summary">{operation.summary}</span>
      </summary>
      {isOpen && <OperationDetails document={api} entry={entry} />}
    </details>
  )
}

const idOf = (tag: string) => `tag-${tag.toLowerCase().replaceAll(' ', '-')}`

/** What is typed into the filter of the page. It stands in the address, so that it can be shared. */
function useFilter(): string {
  // The field is of the page, and a person can type into it before and while this is rendered.
  const text = useSyncExternalStore(onFilterInput, () => filterField().value)
  useEffect(() => {
    const address = new URL(window.location.href)
    if (text === '') address.searchParams.delete('q')
    else address.searchParams.set('q', text)
    window.history.replaceState(null, '', address)
  }, [text])
  return useDeferredValue(text.trim())
}

function onFilterInput(changed: () => void): () => void {
  const form = filterField().form as HTMLFormElement
  const onSubmit = (event: Event) => event.preventDefault()
  form.addEventListener('input', changed)
  form.addEventListener('submit', onSubmit)
  return () => {
    form.removeEventListener('input', changed)
    form.removeEventListener('submit', onSubmit)
  }
}

interface FoundGuide {
  name: string
  title: string
  words: string
}

/** The guides that have the words of a filter. Their words are read with the first filter. */
function useGuides(filter: string): FoundGuide[] {
  const [guides, setGuides] = useState<FoundGuide[]>()
  const isWanted = filter !== ''
  useEffect(() => {
    if (!isWanted || guides !== undefined) return
    fetch('/docs/words.json')
      .then(async (response) => setGuides(response.ok ? ((await response.json()) as FoundGuide[]) : []))
      // Operations are filtered all the same.
      .catch(() => setGuides([]))
  }, [isWanted, guides])
  return isWanted ? (guides ?? []).filter(({ words }) => matches(words, filter)) : []
}

const filterField = () => document.querySelector('.docs-filter input') as HTMLInputElement

/** The operation that the address names. */
function useAddressed(): string {
  const [name, setName] = useState(() => window.location.hash.slice(1))
  useEffect(() => {
    const onChange = () => setName(window.location.hash.slice(1))
    window.addEventListener('hashchange', onChange)
    return () => window.removeEventListener('hashchange', onChange)
  }, [])
  return name
}
