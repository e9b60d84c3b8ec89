import { lazy, Suspense } from 'react'
import type { EditorProps } from './code-mirror.tsx'

const CodeMirror = lazy(() => import('./code-mirror.tsx'))

/** A field for Markdown or JSON. Until the editor has loaded, it is a plain field, and what is typed there stays. */
export function Editor(props: EditorProps) {
  const { label, value, onChange, placeholder } = props
  return (
    <div className="field">
      <span aria-hidden="true" className="label">
        {label}
      </span>
      <Suspense
        fallback={
          <textarea
            className="input code"
            rows={6}
            aria-label={label}
            placeholder={placeholder}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        }
      >
        <CodeMirror {...props} />
      </Suspense>
    </div>
  )
}
