import ReactMarkdown from 'react-markdown'
import rehypeSanitize from 'rehype-sanitize'
import remarkGfm from 'remark-gfm'

/** Rendering longer texts would block the page. In characters. */
const RENDERED_MAX = 200_000

/** HTML in the text stays text, links open apart, and images are links: a picture from elsewhere would tell its server who reads. */
export default function MarkdownRendered({ text }: { text: string }) {
  if (text.length > RENDERED_MAX) return <pre>{text}</pre>
  return (
    <div className="prose">
      <ReactMarkdown
        remarkPlugins={[remarkGfm]}
        rehypePlugins={[rehypeSanitize]}
        components={{
          a: ({ href, children }) => (
            <a href={href} target="_blank" rel="noopener noreferrer nofollow">
              {children}
            </a>
          ),
          img: ({ src, alt }) => (
            <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noopener noreferrer nofollow">
              [image: {alt === undefined || alt === '' ? 'no description' : alt}]
            </a>
          ),
        }}
      >
        {text}
      </ReactMarkdown>
    </div>
  )
}
