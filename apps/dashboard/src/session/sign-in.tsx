import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Form } from '../design/form.tsx'
import mark from '../design/mark.svg'
import { sessionQuery, signIn } from './session.ts'

/** Asks for an API key. The key goes to the server once and is not kept. */
export function SignIn({ reason }: { reason: string | undefined }) {
  const client = useQueryClient()
  const [key, setKey] = useState('')
  const signing = useMutation({
    mutationFn: () => signIn(key),
    onSuccess: (session) => {
      setKey('')
      // What was read before may be of another project.
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
      client.setQueryData(sessionQuery.queryKey, session)
    },
  })
  const problem = signing.error?.message ?? reason
  return (
    <main className="sign-in">
      <div className="panel">
        <div className="panel-body stack">
          <div className="row">
            <img src={mark} alt="" width={28} height={28} />
            <h1>Muster</h1>
          </div>
          <Form submit="Sign in" onSubmit={() => signing.mutate()} isPending={signing.isPending} error={problem}>
            <div className="field">
              <label htmlFor="key">API key</label>
              <input
                id="key"
                className="input"
                type="password"
                autoComplete="off"
                placeholder="mst_key_…"
                value={key}
                onChange={(event) => setKey(event.target.value)}
                aria-describedby="key-hint"
                aria-invalid={problem !== undefined}
                required
              />
              <p className="hint" id="key-hint">
                The browser gets a cookie in exchange, and keeps no key. <code>npm run key -- create --name me --scopes admin</code> makes one.
              </p>
            </div>
          </Form>
        </div>
      </div>
    </main>
  )
}
