import { fileURLToPath } from 'node:url'

const program = (name: string): string => fileURLToPath(new URL(`../programs/${name}`, import.meta.url))

/** The COMMAND_RUNNERS of a system under test: each of `tests/programs`, told where its ledger is. */
export function commandRunners(
  ledgerPath: string,
): Record<string, { argv: string[]; env: Record<string, string>; steerable?: boolean; follows_definitions?: boolean }> {
  const env = { LEDGER: ledgerPath }
  const node = (name: string) => [process.execPath, program(name)]
  return {
    act: { argv: node('act.mjs'), env },
    'act-as': { argv: node('act.mjs'), env, follows_definitions: true },
    ask: { argv: node('ask.mjs'), env },
    append: { argv: ['/bin/sh', program('append.sh')], env },
    credential: { argv: node('credential.mjs'), env },
    escape: { argv: node('escape.mjs'), env },
    family: { argv: node('family.mjs'), env },
    hold: { argv: node('hold.mjs'), env, steerable: true },
    'kill-worker': { argv: node('kill-worker.mjs'), env },
    rounds: { argv: node('rounds.mjs'), env },
    where: { argv: node('where.mjs'), env },
    'not-there': { argv: [program('not-there')], env },
  }
}
