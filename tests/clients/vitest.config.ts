import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { TallyReporter } from '../../scripts/check/tally-reporter.ts'

// Apart from the other tests: it needs the toolchains of other languages.
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['tests/clients/**/*.test.ts'],
    globalSetup: ['./packages/testing/src/global-setup.ts'],
    // Verbose, so that a test that did not run stands there with its reason.
    reporters: ['verbose', new TallyReporter()],
    // A first run downloads generators and libraries.
    testTimeout: 300_000,
    hookTimeout: 120_000,
  },
})
