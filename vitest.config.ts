import { configDefaults, defineConfig } from 'vitest/config'
import { LongestFirst } from './scripts/check/longest-first.ts'
import { TallyReporter } from './scripts/check/tally-reporter.ts'

// Starts one PostgreSQL for the run and makes the template database that every test file copies.
const POSTGRES = './packages/testing/src/global-setup.ts'

/** Another build of the driver, for scripts/driver-patch.ts. */
const DRIVER = process.env.MUSTER_TEST_DRIVER

/**
 * Node imports the files itself, as it does for the product, and one worker after another file has its modules already: this halves the time of the
 * tests. Nothing may therefore leave the state of a module changed. The alias of another driver takes Vite's imports.
 */
const SHARED_MODULES = { isolate: false, experimental: { viteModuleRunner: DRIVER !== undefined } }

/** Replaces a module or spies on its exports, which takes Vite's imports and modules of its own. */
const MOCKED = ['apps/api/src/mcp/conformance.test.ts', 'packages/usecases/src/runs/run-loops.test.ts', 'packages/usecases/src/tasks/check-files.test.ts']

/** What holds processes to times that another file would spoil, and what fills the machine by itself. */
const ALONE = ['claude-code-outages', 'crash', 'deliveries', 'followers', 'outages', 'project-shares', 'races', 'shutdown', 'waiting'].map(
  (name) => `tests/${name}.test.ts`,
)

/** What is published, installed into empty projects. `.ci/run` leaves these projects out where its list of their files has not changed. */
const PACKED = ['client-packages', 'agent-sdks'].map((name) => `tests/${name}.test.ts`)
const DATABASES = ['own-database', 'backup', 'failover', 'pooler', 'replica', 'upgrade'].map((name) => `tests/${name}.test.ts`)
const POSTGRES_FILES = 'packages/local-postgres/**/*.test.ts'

/** Tests of the parts, on a real PostgreSQL. They wait for it as much as they compute: one for each of two cores, where the default leaves one core out. */
const PACKAGES = { globalSetup: [POSTGRES], maxWorkers: 2, testTimeout: 20_000, hookTimeout: 60_000, sequence: { groupOrder: 1 } }

/** Tests of the whole system as real processes. */
const SYSTEM = {
  ...SHARED_MODULES,
  globalSetup: [POSTGRES, './tests/harness/build-dashboard.ts'],
  testTimeout: 60_000,
  hookTimeout: 120_000,
  // What `expect.poll` waits for comes when it comes: by itself it gives up after a second, which two files with browsers can take.
  expect: { poll: { timeout: 10_000 } },
}

export default defineConfig({
  test: {
    reporters: ['default', new TallyReporter()],
    passWithNoTests: false,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        // Pure rules: no database, no clock, the whole of it in two seconds.
        test: { ...SHARED_MODULES, name: 'domain', include: ['packages/domain/**/*.test.ts'], maxWorkers: 2, sequence: { groupOrder: 0 } },
      },
      {
        // The repository about itself: documents, generated files, import rules; and how the bench reads and shows its figures.
        test: {
          name: 'repository',
          include: ['tests/repository/**/*.test.ts', 'scripts/*/**/*.test.ts', 'scripts/docker.test.ts', 'bench/**/*.test.ts'],
          maxWorkers: 2,
          testTimeout: 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        resolve: { alias: DRIVER === undefined ? {} : { postgres: DRIVER } },
        test: {
          ...PACKAGES,
          ...SHARED_MODULES,
          name: 'packages',
          include: ['packages/**/*.test.ts', 'apps/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...MOCKED, 'packages/domain/**', POSTGRES_FILES],
        },
      },
      {
        test: { ...PACKAGES, ...SHARED_MODULES, name: 'postgres', include: [POSTGRES_FILES] },
      },
      {
        test: { ...PACKAGES, name: 'mocked', include: MOCKED },
      },
      {
        // Two files at once, each with processes and a database of its own: they wait as much as they compute.
        test: {
          ...SYSTEM,
          name: 'system',
          include: ['tests/**/*.test.ts', 'scripts/start.test.ts'],
          exclude: [...configDefaults.exclude, ...ALONE, ...PACKED, ...DATABASES, 'tests/repository/**', 'tests/docker/**', 'tests/clients/**'],
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: { ...SYSTEM, name: 'packed', include: PACKED, maxWorkers: 2, sequence: { groupOrder: 2 } },
      },
      {
        // Servers and poolers of their own.
        test: { ...SYSTEM, name: 'databases', include: DATABASES, maxWorkers: 2, sequence: { groupOrder: 2 } },
      },
      {
        // One file at a time.
        test: { ...SYSTEM, name: 'alone', include: ALONE, fileParallelism: false, sequence: { groupOrder: 3 } },
      },
    ],
  },
})
