import { recordCommand, sealAllAgain } from '@muster/usecases'
import { withDatabase } from './system/database.ts'
import { loadEnvFile, prepareEnvironment } from './system/environment.ts'
import { asOperator } from './system/operator.ts'
import { reportFailure } from './system/report.ts'
import { readSecretsKeysFile } from './system/secrets-keys.ts'

const HELP = `Usage: npm run rotate-secrets

Encrypts all stored secrets with the first key of SECRETS_KEYS. To replace a key: put a new one before it, restart API and workers, run this command,
and then remove the old one. It may be interrupted and repeated at any time.
`

async function main(): Promise<void> {
  if (process.argv.slice(2).some((word) => ['--help', '-h'].includes(word))) return console.log(HELP)
  loadEnvFile()
  const { settings } = prepareEnvironment(process.env)
  const SECRETS_KEYS = settings.SECRETS_KEYS ?? (await readSecretsKeysFile(settings))
  const count = await withDatabase(
    settings,
    'use',
    (line) => console.error(line),
    ({ appUrl }) =>
      asOperator({ ...settings, SECRETS_KEYS }, appUrl, { operation: 'rotate-secrets', fields: [] }, async (ctx) => {
        const sealed = await sealAllAgain(ctx)
        if (sealed > 0) await recordCommand(ctx)
        return sealed
      }),
  )
  console.log(
    count === 0
      ? 'All secrets are encrypted with the first key of SECRETS_KEYS.'
      : `Encrypted ${count} again; all secrets are now encrypted with the first key.`,
  )
}

main().catch((error: unknown) => {
  reportFailure(error)
  process.exitCode = 1
})
