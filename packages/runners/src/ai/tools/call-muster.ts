import type { Run } from '../../port.ts'
import { ToolError } from './tool.ts'

const TIMEOUT_MS = 20_000

/**
 * Calls the API of Muster with the subtask's own credential.
 *
 * @throws ToolError with what the API says, never with the credential
 */
export async function callMuster(
  { url, token }: Run['access'],
  method: 'GET' | 'POST',
  path: string,
  signal: AbortSignal,
  body?: object,
): Promise<Record<string, unknown>> {
  if (URL.parse(url) === null) throw new ToolError('Muster is out of reach: this run was given no address of the API.')
  const deadline = AbortSignal.timeout(TIMEOUT_MS)
  const answer = await fetch(`${url.replace(/\/+$/, '')}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    // A redirect would send the credential to another server.
    redirect: 'error',
    signal: AbortSignal.any([signal, deadline]),
  })
    .then(async (response) => ({ ok: response.ok, status: response.status, body: (await response.json()) as Record<string, unknown> }))
    .catch(() => {
      signal.throwIfAborted()
      throw new ToolError(deadline.aborted ? `Muster did not answer within ${TIMEOUT_MS / 1_000} s.` : 'Muster is out of reach: the API did not answer.')
    })
  const { detail } = answer.body ?? {}
  if (!answer.ok) throw new ToolError(`Muster refused (${answer.status}): ${typeof detail === 'string' ? detail : 'no reason given'}`)
  return answer.body
}
