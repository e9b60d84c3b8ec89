import type { ApiKey, Scope } from '@muster/client'
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { CodeBlock } from '../../design/code-block.tsx'
import { Form } from '../../design/form.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Panel } from '../../design/panel.tsx'
import { Time } from '../../design/time.tsx'
import { showError } from '../../design/toasts.tsx'
import { muster } from '../../muster.ts'

const keysQuery = queryOptions({ queryKey: ['api-keys'], queryFn: () => muster.keys.list({ limit: 200 }).all(500) })

/** API keys of the project. */
export function Keys() {
  const client = useQueryClient()
  const query = useQuery(keysQuery)
  const revoking = useMutation({
    mutationFn: (id: string) => muster.keys.revoke(id),
    onSettled: () => client.invalidateQueries(keysQuery),
    onError: showError,
  })
  return (
    <Panel title="API keys" count={query.data?.length} isFlush>
      <NewKey />
      <Loaded query={query}>
        {(keys) => (
          <ul className="list">
            {keys.map((key) => (
              <li key={key.id}>
                <Badge status={stateOf(key)} tone={stateOf(key) === 'valid' ? 'green' : 'neutral'} />
                <span className="grow">
                  {key.name} <code>{key.key_prefix}…</code> <span className="hint">{key.scopes.join(' ')}</span>
                </span>
                <Time at={key.created_at} />
                {stateOf(key) === 'valid' && (
                  <Button kind="danger" onClick={() => revoking.mutate(key.id)}>
                    Revoke
                  </Button>
                )}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Panel>
  )
}

function stateOf(key: ApiKey): 'valid' | 'revoked' | 'expired' {
  if (key.revoked_at !== null) return 'revoked'
  return key.expires_at !== null && Date.parse(key.expires_at) <= Date.now() ? 'expired' : 'valid'
}

function NewKey() {
  const client = useQueryClient()
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState('subtasks:read subtasks:write events:read')
  const creating = useMutation({
    mutationFn: () => muster.keys.create({ name, scopes: scopes.split(/[\s,]+/).filter((scope) => scope !== '') as Scope[] }),
    onSuccess: () => {
      setName('')
      void client.invalidateQueries(keysQuery)
    },
  })
  return (
    <div className="panel-body stack tight">
      <Form submit="Create key" onSubmit={() => creating.mutate()} isPending={creating.isPending} error={creating.error} isTight>
        <div className="row">
          <input
            className="input"
            style={{ width: '12rem' }}
            aria-label="Name"
            placeholder="Name"
            value={name}
            onChange={(event) => setName(event.target.value)}
            required
          />
          <input className="input grow" aria-label="Scopes" placeholder="Scopes" value={scopes} onChange={(event) => setScopes(event.target.value)} required />
        </div>
      </Form>
      {typeof creating.data?.key === 'string' && (
        <>
          <p>Copy it now: only its hash is stored.</p>
          <CodeBlock text={creating.data.key} />
        </>
      )}
    </div>
  )
}
