import { type FormEvent, useState } from 'react'
import { Button } from '../design/button.tsx'
import { CodeBlock } from '../design/code-block.tsx'
import type { Parameter } from './document.ts'

/** A longer answer is cut. In characters. */
const SHOWN_MAX = 20_000
/** A stream never ends: what has arrived by then is shown. In milliseconds. */
const LISTEN_MS = 3_000

interface TryItProps {
  method: string
  path: string
  parameters: readonly Parameter[]
  /** As JSON. */
  body: string | undefined
}

/** Sends the call to this server. The key stays in this form: it is not stored anywhere. */
export function TryIt({ method, path, parameters, body }: TryItProps) {
  const [answer, setAnswer] = useState<{ status: string; text: string }>()
  const [isSending, setSending] = useState(false)
  const send = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    setSending(true)
    try {
      setAnswer(await call(method, path, parameters, form))
    } catch (error) {
      setAnswer({ status: 'not sent', text: (error as Error).message })
    } finally {
      setSending(false)
    }
  }
  return (
    <form className="stack" onSubmit={(event) => void send(event)}>
      {parameters.map(({ name, in: place, required, example }) => (
        <label key={`${place} ${name}`} className="field">
          <span className="label">{name}</span>
          <input
            className="input"
            name={`${place} ${name}`}
            required={required === true}
            defaultValue={required && example !== undefined ? String(example) : ''}
          />
        </label>
      ))}
      {body !== undefined && (
        <label className="field">
          <span className="label">Body</span>
          <textarea className="input docs-json" name="body" rows={Math.min(16, body.split('\n').length + 1)} defaultValue={body} spellCheck={false} />
        </label>
      )}
      <label className="field">
        <span className="label">API key, unless this server is open</span>
        <input className="input" name="key" type="password" autoComplete="off" />
      </label>
      <div className="row">
        <Button type="submit" kind="primary" disabled={isSending}>
          {isSending ? 'Sending …' : `Send ${method}`}
        </Button>
      </div>
      <div className="stack tight" aria-live="polite">
        {answer !== undefined && (
          <>
            <p className="meta">{answer.status}</p>
            <CodeBlock text={answer.text} />
          </>
        )}
      </div>
    </form>
  )
}

async function call(method: string, path: string, parameters: readonly Parameter[], form: FormData): Promise<{ status: string; text: string }> {
  const headers = new Headers()
  const query = new URLSearchParams()
  let filled = path
  for (const { name, in: place } of parameters) {
    const value = String(form.get(`${place} ${name}`) ?? '')
    if (value === '') continue
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(value))
    else if (place === 'query') query.append(name, value)
    else headers.set(name, value)
  }
  const key = String(form.get('key') ?? '').trim()
  if (key !== '') headers.set('authorization', `Bearer ${key}`)
  const body = form.get('body')
  if (body !== null) headers.set('content-type', 'application/json')
  const search = query.size > 0 ? `?${query}` : ''
  const stopping = new AbortController()
  const response = await fetch(`${filled}${search}`, {
    method,
    headers,
    signal: stopping.signal,
    credentials: 'omit',
    ...(body !== null && { body: String(body) }),
  })
  const timer = setTimeout(() => stopping.abort(), LISTEN_MS)
  const text = await readText(response, stopping.signal).finally(() => clearTimeout(timer))
  return { status: `${response.status} ${response.statusText}`, text: indent(text) }
}

/** The text until it ends, is too long, or the call is stopped. With a reader: not every browser iterates over a stream. */
async function readText({ body }: Response, stopped: AbortSignal): Promise<string> {
  if (body === null) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      text += decoder.decode(chunk.value, { stream: true })
      if (text.length > SHOWN_MAX) {
        await reader.cancel()
        return `${text.slice(0, SHOWN_MAX)}\n… cut`
      }
    }
    return text
  } catch (error) {
    if (!stopped.aborted) throw error
    return `${text}\n… still open`
  }
}

function indent(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text === '' ? '(empty)' : text
  }
}
