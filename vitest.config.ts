import { configDefaults, defineConfig } from 'vitest/config'
import { TallyReporter } from './scripts/check/tally-reporter.ts'

// Starts one PostgreSQL for the run and makes the template database that every test file copies.
const POSTGRES = './packages/testing/src/global-setup.ts'

/** Another build of the driver, for scripts/driver-patch.ts. */
const DRIVER = process.env.MUSTER_TEST_DRIVER

const OUTSIDE = [
  'agent-sdks',
  'backup',
  'cli',
  'client-folder',
  'client-packages',
  'client',
  'evaluations',
  'example-*',
  'judge',
  'matrix',
  'mcp-*',
  'memory',
  'models',
  'takeover',
  'tracing',
].map((name) => `tests/${name}.test.ts`)

export default defineConfig({
  test: {
    reporters: ['default', new TallyReporter()],
    passWithNoTests: false,
    projects: [
      {
        // Pure rules: no database, no clock, the whole of it in two seconds.
        test: { name: 'domain', include: ['packages/domain/**/*.test.ts'], sequence: { groupOrder: 0 } },
      },
      {
        // The repository about itself: documents, generated files, import rules; and how the bench reads and shows its figures.
        test: {
          name: 'repository',
          include: ['tests/repository/**/*.test.ts', 'scripts/*/**/*.test.ts', 'scripts/docker.test.ts', 'bench/**/*.test.ts'],
          testTimeout: 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        resolve: { alias: DRIVER === undefined ? {} : { postgres: DRIVER } },
        test: {
          name: 'packages',
          include: ['packages/**/*.test.ts', 'apps/**/*.test.ts'],
          exclude: [...configDefaults.exclude, 'packages/domain/**'],
          globalSetup: [POSTGRES],
          // They wait for PostgreSQL as much as they compute: one for each of two cores, where the default leaves one core out.
          maxWorkers: 2,
          testTimeout: 20_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // Clients of the whole system, and what waits more than it computes: two files at once, each with processes and a database of its own.
        test: {
          name: 'outside',
          include: OUTSIDE,
          globalSetup: [POSTGRES],
          maxWorkers: 2,
          testTimeout: 60_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        // The whole system as real processes. One file at a time: they fill the machine by themselves.
        test: {
          name: 'system',
          include: ['tests/**/*.test.ts', 'scripts/start.test.ts'],
          exclude: [...configDefaults.exclude, ...OUTSIDE, 'tests/repository/**', 'tests/docker/**', 'tests/clients/**'],
          globalSetup: [POSTGRES],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
