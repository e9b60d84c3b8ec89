/** Elements without readable content. */
const UNREAD = ['script', 'style', 'noscript', 'template', 'svg', 'head']
/** Elements that begin a line. */
const BLOCKS = new Set(
  'address article aside blockquote br dd div dl dt figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tr ul'.split(
    ' ',
  ),
)
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', mdash: '—', ndash: '–', hellip: '…', copy: '©' }

/**
 * The text of a page without its tags, one block a line; links keep their targets. It goes through the page once, so that no page, however
 * it is written, takes longer than its length.
 */
export function htmlToText(html: string): string {
  let text = ''
  let href: string | null = null
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf('<', at)
    if (open === -1) {
      text += html.slice(at)
      break
    }
    text += html.slice(at, open)
    if (html.startsWith('<!--', open)) {
      at = after(html, '-->', open + 4)
      continue
    }
    const close = html.indexOf('>', open)
    if (close === -1) break
    const tag = html.slice(open + 1, close)
    const name = /^\/?([a-z][a-z0-9]*)/i.exec(tag)?.[1]?.toLowerCase() ?? ''
    const isEnd = tag.startsWith('/')
    at = close + 1
    if (!isEnd && name === 'title') text += '# '
    if (!isEnd && UNREAD.includes(name) && !tag.endsWith('/')) {
      // Of the head, the title is worth reading.
      const end = html.slice(at, at + 1_000_000).search(name === 'head' ? /<title|<\/head/i : new RegExp(`</${name}`, 'i'))
      at = end === -1 ? html.length : at + end
    } else if (name === 'a') {
      if (isEnd && href !== null) text += ` (${href})`
      href = isEnd ? null : (/\bhref\s*=\s*["']?([^"'\s>]+)/i.exec(tag.slice(0, 4_000))?.[1] ?? null)
    } else if (BLOCKS.has(name) || (isEnd && name === 'title')) {
      text += !isEnd && name === 'li' ? '\n- ' : '\n'
    }
  }
  return unescaped(text)
    .split('\n')
    .map((line) => line.replace(/[ \t\r\f]+/g, ' ').trim())
    .filter((line, index, lines) => line !== '' || (lines[index - 1] ?? '') !== '')
    .join('\n')
    .trim()
}

function after(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from)
  return at === -1 ? text.length : at + mark.length
}

function unescaped(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}
