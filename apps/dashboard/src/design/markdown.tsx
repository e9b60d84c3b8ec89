import { CodeXml } from 'lucide-react'
import { Component, lazy, type ReactNode, Suspense, useState } from 'react'
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
        <PlainInstead key={text} text={text}>
          <Suspense fallback={<pre>{text}</pre>}>
            <Rendered text={text} />
          </Suspense>
        </PlainInstead>
      )}
    </div>
  )
}

/** A text that cannot be rendered, for example because it is nested too deeply, must not take the screen with it. */
class PlainInstead extends Component<{ text: string; children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError() {
    return { hasFailed: true }
  }

  override render() {
    return this.state.hasFailed ? <pre>{this.props.text}</pre> : this.props.children
  }
}
