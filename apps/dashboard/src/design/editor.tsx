import { lazy, Suspense, useRef } from 'react'
import type { EditorProps } from './code-mirror.tsx'

const CodeMirror = lazy(() => import('./code-mirror.tsx'))

/** A field for Markdown or JSON. Until the editor has loaded, it is a plain field, and what is typed there stays. */
export function Editor(props: Omit<EditorProps, 'hadFocus'>) {
  const { label, value, onChange, placeholder } = props
  const hadFocus = useRef(false)
  return (
    <div className="field">
      <span aria-hidden="true" className="label">
        {label}
      </span>
      <Suspense
        fallback={
          <textarea
            ref={(field) => () => {
              hadFocus.current = document.activeElement === field
            }}
            className="input code"
            rows={6}
            aria-label={label}
            placeholder={placeholder}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        }
      >
        <CodeMirror {...props} hadFocus={hadFocus} />
      </Suspense>
    </div>
  )
}
