import { readFile } from 'node:fs/promises'

const SOURCE = new URL('../../../../docs/errors.md', import.meta.url)

/** `docs/errors.md` as a page, so that the `type` of a problem leads to its section. Undefined where the documents are not installed. */
export async function renderErrorPage(): Promise<string | undefined> {
  const source = await readFile(SOURCE, 'utf8').catch(() => undefined)
  if (source === undefined) return undefined
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Errors · Muster</title><meta name="viewport" content="width=device-width">
<style>body{font:16px/1.5 system-ui;max-width:46rem;margin:2rem auto;padding:0 1rem}pre{background:#f4f4f4;padding:1rem;overflow:auto}:target{background:#fff3bf}</style>
</head><body>${renderBlocks(source)}</body></html>`
}

/** As much of markdown as that file uses: headings, paragraphs, code blocks, and what stands inside a line. */
function renderBlocks(source: string): string {
  const blocks = source.split(/(^```\w*\n[\s\S]*?\n```$)/m).flatMap((part) => (part.startsWith('```') ? [part] : part.split(/\n{2,}|(?<=^#.*)\n/m)))
  return blocks.map((block) => renderBlock(block.trim())).join('\n')
}

function renderBlock(block: string): string {
  const code = /^```\w*\n([\s\S]*?)\n?```$/.exec(block)
  if (code !== null) return `<pre>${escapeHtml(code[1] ?? '')}</pre>`
  const heading = /^(#{1,3}) (.*)$/.exec(block)
  if (heading !== null) {
    const level = heading[1]?.length ?? 1
    const text = heading[2] ?? ''
    return `<h${level} id="${escapeHtml(text)}">${renderLine(text)}</h${level}>`
  }
  return block === '' ? '' : `<p>${renderLine(block)}</p>`
}

function renderLine(line: string): string {
  return escapeHtml(line)
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replaceAll(/\[([^\]]+)\]\((#[\w-]+|https:[^)\s]+)\)/g, '<a href="$2">$1</a>')
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
