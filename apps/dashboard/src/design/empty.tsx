import { Copy } from 'lucide-react'
import { useState } from 'react'
import { Button } from './button.tsx'
import { CodeBlock } from './code-block.tsx'

/** What to do where there is nothing yet: the lines that would fill the screen. */
export function Empty({ children, curl, sdk }: { children: React.ReactNode; curl?: string; sdk?: string }) {
  return (
    <div className="empty">
      <p>{children}</p>
      {curl !== undefined && <Snippet label="curl" text={curl} />}
      {sdk !== undefined && <Snippet label="TypeScript" text={sdk} />}
    </div>
  )
}

function Snippet({ label, text }: { label: string; text: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
  }
  return (
    <div className="stack" style={{ gap: 'var(--space-1)' }}>
      <div className="row">
        <h3 className="grow">{label}</h3>
        <Button kind="plain" onClick={() => void copy()}>
          <Copy size={14} aria-hidden />
          {isCopied ? 'Copied' : 'Copy'}
        </Button>
      </div>
      <CodeBlock text={text} />
    </div>
  )
}

/** The shell line that sends a body to this server. */
export function curlLine(path: string, body?: unknown): string {
  const data = body === undefined ? '' : ` \\\n  -H 'content-type: application/json' \\\n  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`
  return `curl -s ${window.location.origin}${path}${data}`
}
