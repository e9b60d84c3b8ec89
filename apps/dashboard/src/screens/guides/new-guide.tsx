import { useMutation } from '@tanstack/react-query'
import { Editor } from '../../design/editor.tsx'
import { Expandable } from '../../design/expandable.tsx'
import { Form } from '../../design/form.tsx'
import { toasts } from '../../design/toasts.tsx'
import { useDraft } from '../../design/use-draft.ts'
import { muster } from '../../muster.ts'

/** A new guide: what a failure looks like, and what to do about it. */
export function NewGuide() {
  return (
    <Expandable summary="New guide">
      <GuideForm />
    </Expandable>
  )
}

function GuideForm() {
  const [title, setTitle] = useDraft('guide-title')
  const [patterns, setPatterns] = useDraft('guide-patterns')
  const [content, setContent] = useDraft('guide-content')
  const creating = useMutation({
    mutationFn: () => muster.guides.create({ title, content, patterns: patterns.split('\n').filter((line) => line.trim() !== '') }),
    onSuccess: () => {
      for (const clear of [setTitle, setPatterns, setContent]) clear('')
      toasts.add({ title: 'The guide is stored. The next failure that fits is announced with it.' })
    },
  })
  return (
    <Form submit="Create guide" onSubmit={() => creating.mutate()} isPending={creating.isPending} error={creating.error}>
      <div className="field">
        <label htmlFor="guide-title">Title</label>
        <input id="guide-title" className="input" value={title} onChange={(event) => setTitle(event.target.value)} required />
      </div>
      <div className="field">
        <label htmlFor="guide-patterns">Words of the error message, one pattern a line</label>
        <textarea id="guide-patterns" className="input" rows={3} value={patterns} onChange={(event) => setPatterns(event.target.value)} required />
      </div>
      <Editor label="What to do" language="markdown" value={content} onChange={setContent} />
    </Form>
  )
}
