import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json, jsonParseLinter } from '@codemirror/lang-json'
import { markdown } from '@codemirror/lang-markdown'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { linter } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import { EditorView, keymap, placeholder as shownWhenEmpty } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { type RefObject, useEffect, useRef } from 'react'

export interface EditorProps {
  /** The name of the field. */
  label: string
  language: 'markdown' | 'json'
  value: string
  onChange: (text: string) => void
  placeholder?: string
  /** Whether the field that it replaces had the focus. */
  hadFocus: RefObject<boolean>
}

const colours = HighlightStyle.define([
  { tag: tags.heading, fontWeight: '650' },
  { tag: tags.strong, fontWeight: '650' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: [tags.monospace, tags.string], color: 'var(--green)' },
  { tag: [tags.link, tags.url, tags.propertyName], color: 'var(--accent-text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--blue)' },
  { tag: [tags.quote, tags.processingInstruction], color: 'var(--text-3)' },
])

const look = EditorView.theme({
  '&': {
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius-s)',
    background: 'var(--surface)',
    color: 'var(--text)',
    fontSize: 'var(--text-s)',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-content': { minHeight: '7rem', padding: '0.5rem 0', fontFamily: 'var(--font-mono)', caretColor: 'var(--text)' },
  '.cm-scroller': { maxHeight: '60vh', lineHeight: '1.5' },
  '.cm-placeholder': { color: 'var(--text-3)' },
  '.cm-diagnostic': { fontFamily: 'var(--font)', color: 'var(--text)', background: 'var(--surface)' },
  '.cm-tooltip': { border: '1px solid var(--line)', background: 'var(--surface)' },
})

const LANGUAGES = {
  markdown: [markdown()],
  json: [json(), linter(jsonParseLinter())],
}

/** An editor that colours and checks what is typed. The Tab key leaves it, as it leaves every other field. */
export default function CodeMirror({ label, language, value, onChange, placeholder = '', hadFocus }: EditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const changed = useRef(onChange)
  changed.current = onChange
  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor has the value from here on; the effect below brings other changes of it.
  useEffect(() => {
    const element = host.current
    if (element === null) return
    // In a shadow root its styles are sheets, which the page's security policy allows; elsewhere they would be inline elements, which it refuses.
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' })
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: value,
        extensions: [
          history(),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          ...LANGUAGES[language],
          syntaxHighlighting(colours),
          look,
          EditorView.lineWrapping,
          shownWhenEmpty(placeholder),
          EditorView.contentAttributes.of({ 'aria-label': label, 'aria-multiline': 'true' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) changed.current(update.state.doc.toString())
          }),
        ],
      }),
    })
    view.current = editor
    if (hadFocus.current) {
      editor.dispatch({ selection: { anchor: editor.state.doc.length } })
      editor.focus()
      hadFocus.current = false
    }
    return () => {
      view.current = null
      editor.destroy()
    }
  }, [label, language, placeholder, hadFocus])
  useEffect(() => {
    const editor = view.current
    if (editor === null || editor.state.doc.toString() === value) return
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } })
  }, [value])
  return <div ref={host} />
}
