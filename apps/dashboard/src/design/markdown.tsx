import { CodeXml } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { Button } from './button.tsx'
import { CodeBlock } from './code-block.tsx'

const Rendered = lazy(() => import('./markdown-rendered.tsx'))

/** Text of agents: rendered as Markdown without anything that it could run or load, and as it is. */
export function Markdown({ text }: { text: string }) {
  const [isRaw, setRaw] = useState(false)
  return (
    <div className="markdown">
      <Button kind="plain" label={isRaw ? 'Show it rendered' : 'Show it as it is'} aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
        <CodeXml size={14} aria-hidden />
      </Button>
      {isRaw ? (
        <CodeBlock text={text} />
      ) : (
        <Suspense fallback={<pre>{text}</pre>}>
          <Rendered text={text} />
        </Suspense>
      )}
    </div>
  )
}
