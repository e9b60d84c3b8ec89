import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { TallyReporter } from '../../scripts/check/tally-reporter.ts'

// Apart from the other tests: it needs a Docker engine, and minutes.
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['tests/docker/**/*.test.ts'],
    reporters: ['default', new TallyReporter()],
    testTimeout: 240_000,
    hookTimeout: 600_000,
  },
})
