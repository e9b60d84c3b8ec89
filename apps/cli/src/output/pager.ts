import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * Shows a text in the program of PAGER, or in `less`, which stays out of the way where the text fits. Colours pass.
 *
 * @returns false where there is no such program, and the text was not shown
 */
export async function page(text: string): Promise<boolean> {
  const [program, ...options] = (process.env.PAGER ?? 'less -FRX').split(/\s+/)
  if (program === undefined || program === '' || program === 'cat') return false
  const child = spawn(program, options, { stdio: ['pipe', 'inherit', 'inherit'] })
  // Who leaves the pager early needs no more of the text.
  child.stdin.on('error', () => {})
  child.stdin.end(text.endsWith('\n') ? text : `${text}\n`)
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    return code !== 127
  } catch {
    return false
  }
}
