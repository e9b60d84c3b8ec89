// Who may import whom: ARCHITECTURE.md says it in words, this file enforces it. `npm run check` runs it through
// scripts/check/import-rules.ts, which also fails when a package was not seen at all. Every rule here is proven to bite by
// tests/repository/import-rules.test.ts.

/** A package as the resolver names it: installed (`…/node_modules/name/…`) or, where it cannot be resolved, bare (`name`). */
const npm = (...names) => names.map((name) => `(^|node_modules/)${name}(/|$)`)

/** What is not shipped: test files beside the code, the tests of the whole system, and what they share. */
const TESTS = ['[.]test[.]ts$', '^tests/', '^packages/testing/', '^chaos/', '^bench/']

/** What the code of each package may import of ours. Its tests may also use packages/testing. */
const MAY_IMPORT = {
  domain: [],
  archive: ['domain'],
  db: ['domain'],
  jobs: ['domain'],
  outbound: ['domain'],
  runners: ['domain', 'outbound'],
  deliveries: ['domain', 'outbound'],
  usecases: ['domain', 'db', 'jobs'],
  'local-postgres': [],
  client: [],
}

/** And of what it may use the types: `enqueue(tx, …)` has to say what a transaction is. */
const MAY_IMPORT_TYPES = { jobs: 'db' }

const packageRules = Object.entries(MAY_IMPORT).flatMap(([name, allowed]) => {
  const rule = {
    name: `${name}-imports-${allowed.length === 0 ? 'nothing-of-ours' : `only-${allowed.join('-')}`}`,
    severity: 'error',
    from: { path: `^packages/${name}/`, pathNot: '[.]test[.]ts$' },
    to: { path: '^(packages|apps)/', pathNot: [name, ...allowed, MAY_IMPORT_TYPES[name] ?? name].map((each) => `^packages/${each}/`) },
  }
  const types = MAY_IMPORT_TYPES[name]
  if (types === undefined) return [rule]
  return [rule, { ...rule, name: `${name}-imports-only-types-of-${types}`, to: { path: `^packages/${types}/`, dependencyTypesNot: ['type-only'] } }]
})

/** Only the given places may import the given npm packages. */
const onlyIn = (name, places, packages, comment) => ({
  name,
  severity: 'error',
  comment,
  from: { pathNot: places.map((place) => `^${place}`) },
  to: { path: npm(...packages) },
})

module.exports = {
  forbidden: [
    ...packageRules,
    {
      name: 'doors-are-thin',
      severity: 'error',
      comment:
        'A route, a tool, a hook or a handler calls a use-case; it never sees how things are stored, queued or run. Types of the runner port and of jobs are fine. The files that are loops take them from jobs.',
      from: {
        path: '^apps/[^/]+/src/',
        pathNot: [
          '[.]test[.]ts$',
          '^apps/[^/]+/src/(deps|main)[.]ts$',
          '^apps/api/src/background[.]ts$',
          '^apps/worker/src/(worker|claiming|watching|presence|scheduler|judging|checking|chatting|delivering)[.]ts$',
        ],
      },
      to: { path: '^packages/(jobs|runners|deliveries|outbound)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'doors-never-see-the-database',
      severity: 'error',
      comment: 'Only deps.ts and main.ts compose. A type of the database in a door is already a leak.',
      from: { path: '^apps/[^/]+/src/', pathNot: ['[.]test[.]ts$', '^apps/[^/]+/src/(deps|main)[.]ts$'] },
      to: { path: '^packages/db/' },
    },
    {
      name: 'apps-bring-no-database',
      severity: 'error',
      comment: 'The embedded PostgreSQL belongs to the start script and to the tests; the processes are given a DATABASE_URL.',
      from: { path: '^apps/', pathNot: '[.]test[.]ts$' },
      to: { path: '^packages/local-postgres/' },
    },
    {
      name: 'clients-see-only-the-client',
      severity: 'error',
      comment: 'The dashboard and the CLI use the API as every other client does.',
      from: { path: '^apps/(dashboard|cli)/', pathNot: '[.]test[.]ts$' },
      to: { path: '^packages/', pathNot: '^packages/client/' },
    },
    {
      name: 'client-runs-everywhere',
      severity: 'error',
      comment: 'Browsers and Bun run it, and installing it brings nothing else.',
      from: { path: '^packages/client/src/', pathNot: '[.]test[.]ts$' },
      to: { dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-optional', 'npm-no-pkg', 'unknown'], dependencyTypesNot: ['type-only', 'local'] },
    },
    {
      name: 'apps-never-import-each-other',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'only-tests-import-apps',
      severity: 'error',
      comment:
        'Packages never import apps. tests/ and packages/testing start them in-process, bench/ with runners of its own; scripts/check generates openapi.yaml from one.',
      from: { pathNot: ['^apps/', '^tests/', '^packages/testing/', '^bench/', '^scripts/check/'] },
      to: { path: '^apps/' },
    },
    {
      name: 'testing-is-for-tests',
      severity: 'error',
      from: { pathNot: TESTS },
      to: { path: '^packages/testing/' },
    },
    {
      name: 'packages-by-name',
      severity: 'error',
      comment: 'What a package does not export, nobody else may use: import it by its name, not by a path into it.',
      from: { path: '^(packages|apps)/([^/]+)/' },
      to: { path: '^(packages|apps)/', pathNot: '^$1/$2/', dependencyTypes: ['local'] },
    },
    {
      name: 'packages-by-name-from-outside',
      severity: 'error',
      from: { path: '^(scripts|tests|examples|bench|chaos)/', pathNot: '^scripts/check/' },
      to: { path: '^(packages|apps)/', dependencyTypes: ['local'] },
    },
    onlyIn('drizzle-only-in-db-and-jobs', ['packages/db/', 'packages/jobs/'], ['drizzle-orm']),
    onlyIn('pg-boss-only-in-jobs', ['packages/jobs/', 'bench/'], ['pg-boss'], 'bench/ measures it beside ours.'),
    {
      ...onlyIn('postgres-only-near-the-database', ['packages/(db|local-postgres|testing)/', 'tests/', 'chaos/', 'bench/'], ['postgres']),
      from: { pathNot: ['^packages/(db|local-postgres|testing)/', '^(tests|chaos|bench)/', '[.]test[.]ts$'] },
    },
    onlyIn('fastify-only-in-api', ['apps/api/', 'bench/'], ['fastify', '@fastify', 'fastify-[^/]+']),
    onlyIn(
      'mcp-only-in-api-and-runners',
      ['apps/api/', 'apps/mcp/', 'packages/runners/', 'tests/', 'examples/'],
      ['@modelcontextprotocol'],
      "tests/ speaks to the server as a client does, and so do runs to the operator's servers.",
    ),
    // An example is a harness of its own. The client has helpers for them, of which only types import one (see client-runs-everywhere), and one test uses these with the real SDKs.
    onlyIn(
      'model-sdks-only-in-runners',
      ['packages/runners/', 'packages/client/', 'examples/', 'tests/agent-sdks[.]test[.]ts'],
      ['ai', '@ai-sdk', '@anthropic-ai', 'openai', '@google/genai', '@openrouter', 'ollama[^/]*'],
    ),
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-cycles-between-folders',
      severity: 'error',
      comment: 'The folders of a package are its nouns. Two that import each other are one.',
      scope: 'folder',
      from: { path: '^packages/(domain|usecases)/src/[^/]+' },
      to: { circular: true },
    },
    {
      name: 'no-unresolved',
      severity: 'error',
      comment: 'An import that cannot be resolved is an import that no rule above has judged.',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // bench/peers has packages of its own, which are installed when they are measured.
    exclude: { path: '(^|/)(generated|dist|[.]muster|bench/peers)/' },
    // Type imports count: a type from the wrong package is the wrong dependency too.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
}
