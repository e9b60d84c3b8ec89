import { z } from 'zod'
import { isOutboundEntry } from '../core/outbound-allow.ts'
import { isSecretsKeys } from '../core/secrets-keys.ts'
import { retentionSchema } from '../retention/retention.ts'
import { BACKGROUND_MCP_POLICIES } from '../subagents/spawn-policy.ts'
import { problemOfDatabaseAddress } from './database-address.ts'
import { mcpServersSchema } from './mcp-settings.ts'

/**
 * Every environment variable of the API and the worker, in one table: what the processes parse at start, and what
 * `.env.example` is generated from. Durations and sizes carry their unit in the name or the description.
 */

const text = z.string().trim().min(1)
const count = (min: number, max: number) => z.coerce.number<string>().int().min(min).max(max)
/** With less, no program starts in a sandbox. */
const SANDBOX_MEMORY_BYTES_MIN = 16_777_216
const SANDBOX_PROCESSES_MIN = 16
const flag = z.enum(['true', 'false']).transform((value) => value === 'true')
const LOOPBACK_HOSTS = new Set(['127.0.0.1', '::1', 'localhost'])

/** True for the addresses that only this machine can reach. */
export function isLoopback(host: string): boolean {
  return LOOPBACK_HOSTS.has(host.toLowerCase().replace(/^\[|\]$/g, ''))
}

const absolutePath = z.string().startsWith('/', 'must be an absolute path')
/** What an entry says of its sandbox, where there is one. */
const sandboxOptions = {
  sandbox: z.boolean().optional().describe('false: it runs outside of the sandbox'),
  network: z.boolean().optional().describe('whether it may use the network from its sandbox'),
  reads: z.array(absolutePath).optional().describe('files and folders that are shown to it though something around them is hidden'),
  writes: z.array(absolutePath).optional().describe('folders besides its own that it may change'),
}

const commandRunner = z.strictObject({
  argv: z.array(z.string().min(1)).min(1).describe('program and arguments; never passed through a shell'),
  cwd: z.string().min(1).optional(),
  env: z.record(z.string(), z.string()).optional(),
  steerable: z.boolean().optional(),
  follows_definitions: z.boolean().optional().describe('it obeys the role, the instructions and the tools of the sub-agent in its prompt'),
  ...sandboxOptions,
})

/** One program of `COMMAND_RUNNERS`. */
export type CommandRunnerSettings = z.infer<typeof commandRunner>

const check = z.strictObject({
  argv: z.array(z.string().min(1)).min(1).describe('program and arguments; never passed through a shell'),
  env: z.record(z.string(), z.string()).optional(),
  timeout_seconds: z.number().int().min(1).max(3_600).optional().describe('seconds after which it has failed; 600 if absent'),
  ...sandboxOptions,
})

/** One check of `CHECKS`. */
export type CheckSettings = z.infer<typeof check>

const CHECK_NAME = /^[a-z][a-z0-9-]{0,63}$/

const RUNNER_NAME = /^[a-z][a-z0-9-]{0,63}$/
const BUILT_IN_RUNNER_NAMES = ['external', 'ai', 'claude-code']
const RESERVED_RUNNER_NAMES = [...BUILT_IN_RUNNER_NAMES, 'command']

const json = z.string().transform((value, context): unknown => {
  try {
    return JSON.parse(value)
  } catch (error) {
    context.addIssue({ code: 'custom', message: `is not JSON: ${(error as Error).message}` })
    return z.NEVER
  }
})

const commandRunners = json.pipe(
  z.record(
    z
      .string()
      .regex(RUNNER_NAME, 'a runner name is lower-case letters, digits and dashes, starting with a letter')
      .refine((name) => !RESERVED_RUNNER_NAMES.includes(name), 'this runner name is reserved'),
    commandRunner,
  ),
)

const checks = json.pipe(z.record(z.string().regex(CHECK_NAME, 'the name of a check is lower-case letters, digits and dashes, starting with a letter'), check))

const modelPrice = z.strictObject({
  input: z.number().min(0).max(1_000_000).describe('US dollars per million tokens'),
  output: z.number().min(0).max(1_000_000).describe('US dollars per million tokens'),
  cached_input: z.number().min(0).max(1_000_000).optional().describe('US dollars per million tokens that the provider reads from its cache; absent: as input'),
})

/** What a model costs, in US dollars per million tokens. */
export type ModelPrice = z.infer<typeof modelPrice>

const modelName = text.max(200)
const modelAliases = json.pipe(z.record(modelName, modelName))
const retention = json.pipe(retentionSchema)
const modelPrices = json.pipe(z.record(modelName, modelPrice))
const projectWeights = json.pipe(z.record(z.uuid(), z.number().min(0.01).max(1_000)))
const mcpServers = json.pipe(mcpServersSchema)
/** Whom the tool WebSearch can ask. */
const WEB_SEARCH_PROVIDERS = ['brave', 'tavily', 'searxng'] as const
const databaseAddress = text.superRefine((value, context) => {
  const problem = problemOfDatabaseAddress(value)
  if (problem !== null) context.addIssue({ code: 'custom', message: problem })
})
const baseUrl = z.url({ protocol: /^https?$/, error: 'must look like https://host/path' })

const folderList = z
  .string()
  .transform((value) =>
    value
      .split(':')
      .map((path) => path.trim())
      .filter((path) => path !== ''),
  )
  .refine((paths) => paths.every((path) => path.startsWith('/')), 'must be absolute paths, separated by colons')

const commaList = z.string().transform((value) =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
)

const originList = commaList.refine(
  (origins) => origins.every((origin) => origin === '*' || (URL.canParse(origin) && new URL(origin).origin === origin)),
  'must be origins such as https://app.example.com, without a path, separated by commas; or *',
)

const outboundAllow = commaList.refine(
  (entries) => entries.every(isOutboundEntry),
  'must be IP addresses, ranges such as 10.0.0.0/8, or names of hosts in lower case, separated by commas',
)
const secretsKeys = text.refine(
  isSecretsKeys,
  'must be id:key, or several separated by commas: ids of letters, digits, dashes and underscores, each once; keys of 32 bytes in base64',
)
const retrySeconds = commaList
  .refine(
    (parts) => parts.length > 0 && parts.length <= 30 && parts.every((part) => /^\d{1,6}(\.\d{1,3})?$/.test(part)),
    'must be 1 to 30 numbers of seconds, separated by commas',
  )
  .transform((parts) => parts.map(Number))

export const settingsSchema = z.object({
  HOST: text.default('127.0.0.1').describe('Address the API listens on.'),
  PORT: count(0, 65535).default(7300).describe('Port the API listens on; 0 selects a free one and prints it.'),
  DATABASE_URL: databaseAddress
    .optional()
    .describe(
      'Database on PostgreSQL 16 or newer, with a login that does not own the tables and cannot bypass row-level security. Absent: npm start uses its own ' +
        'PostgreSQL, in DATA_DIR. Several hosts, separated by commas, are a primary and its standbys. See docs/databases.md.',
    ),
  DATABASE_DIRECT_URL: databaseAddress
    .optional()
    .describe(
      'The same database and login, at PostgreSQL itself. Needed if DATABASE_URL is the address of a connection pooler such as PgBouncer, because notifications, locks of sessions and the queue need a session of their own.',
    ),
  DATABASE_READ_URL: databaseAddress
    .optional()
    .describe(
      'Hot standbys of DATABASE_URL, or a pooler before them, with the same database and login. The API sends lists, searches and statistics there, which have all that was acknowledged before. See docs/databases.md.',
    ),
  MIGRATE_DATABASE_URL: databaseAddress
    .optional()
    .describe(
      'The same server, with a login that may create databases and roles. Only `npm run migrate` needs it, to create the database and the login ' +
        'of DATABASE_URL if they are missing.',
    ),
  DATA_DIR: text.default('.muster').describe('Folder for the embedded PostgreSQL and the workspaces of subtasks.'),
  AUTH: z
    .enum(['keys', 'open'])
    .default('keys')
    .describe('keys: every call needs an API key. open: no call needs a key; allowed only on a loopback HOST. npm start uses open on loopback by default.'),
  CORS_ORIGINS: originList
    .default([])
    .describe(
      'Origins of web pages that may call the API from a browser, separated by commas, such as https://app.example.com; * for all. Empty: none. Calls of such pages need a key: the cookie of the dashboard never counts there, and a server that was started open takes none of them.',
    ),
  PUBLIC_URL: z.url().optional().describe('Address at which runners and clients reach the API. Absent: http://HOST:PORT.'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info').describe('Lowest level of log lines.'),
  WORKSPACE_ROOTS: folderList
    .default([])
    .describe(
      'Absolute folders, separated by colons. Below them the server may check whether the files of a task exist, and a dispatched run whose client_cwd is there works in it and may write. Links out of them are not followed. Keep DATA_DIR out of them.',
    ),
  COMMAND_RUNNERS: commandRunners
    .default({})
    .describe(
      'Programs that may run subtasks, as JSON: {"name": {"argv": ["program", "argument"], "cwd": "…", "env": {"NAME": "value"}, "steerable": true, "follows_definitions": true}}. Only a program with follows_definitions runs sub-agents.',
    ),
  DEFAULT_RUNNER: z
    .string()
    .regex(RUNNER_NAME)
    .optional()
    .describe(
      'Runner of a subtask that names none. Absent: the first available of ai (if a model provider is set), claude-code, the programs of COMMAND_RUNNERS, external. A sub-agent gets the first of these that follows definitions, never external.',
    ),
  ANTHROPIC_API_KEY: text
    .optional()
    .describe('Key of Anthropic for the runners ai and claude-code. The API needs it too, to report which runners are available.'),
  ANTHROPIC_BASE_URL: baseUrl.optional().describe('Address of Anthropic. Absent: https://api.anthropic.com.'),
  CLAUDE_CODE_PATH: text
    .optional()
    .describe('Program of the runner claude-code: a path, or a name on the PATH. Absent: claude. The API looks for it too, to report whether it is available.'),
  OPENAI_API_KEY: text.optional().describe('Key of OpenAI, or of the server at OPENAI_BASE_URL, for the runner ai.'),
  OPENAI_BASE_URL: baseUrl
    .optional()
    .describe('Server with the chat completions API of OpenAI, such as Ollama (http://127.0.0.1:11434/v1) or vLLM; it may work without a key. Absent: OpenAI.'),
  BACKGROUND_MODEL: modelName
    .optional()
    .describe(
      'Model of the runner ai for a subtask that names none: an alias, anthropic:<model>, openai:<model>, or a plain name. Absent: sonnet, if Anthropic is set.',
    ),
  MODEL_ALIASES: modelAliases
    .default({})
    .describe('Other names of models, as JSON: {"haiku": "openai:gpt-5-mini"}. Without an entry, haiku, sonnet and opus are models of Anthropic.'),
  MODEL_PRICES: modelPrices
    .default({})
    .describe(
      'Prices of models in US dollars per million tokens, as JSON: {"claude-sonnet-5-5": {"input": 2, "output": 10, "cached_input": 0.1}}. They come before the list prices that Muster knows (docs/usage.md). A budget in dollars needs the price of its model.',
    ),
  MODEL_IDLE_TIMEOUT: count(1, 3600).default(60).describe('Seconds without output after which a call of a model is retried.'),
  JUDGE_MODEL: modelName
    .optional()
    .describe(
      'Model of the judge, if the project or the request names none. Absent: the default model of the runner ai. It is called only if a project or a request enables the judge.',
    ),
  JUDGE_CONCURRENCY: count(1, 100).default(2).describe('Judgements that one worker process runs at once.'),
  CHECKS: checks
    .default({})
    .describe(
      'Programs that criteria of tasks may name as their check, as JSON: {"unit-tests": {"argv": ["npm", "test"], "timeout_seconds": 120, "env": {"NAME": "value"}}}. A worker executes them in the folder of the task after a run; exit code 0 is met. timeout_seconds is at most 3600, and 600 if absent. The API needs the setting too.',
    ),
  CHECK_CONCURRENCY: count(1, 100).default(2).describe('Checks that one worker process runs at once.'),
  ENABLE_BASH_TOOL: flag
    .default(false)
    .describe(
      'true: models of the runners ai and claude-code may run commands, in a sandbox where there is one (SANDBOX), otherwise with the rights of the worker. Enable it only with SANDBOX=required, or if the worker has a container of its own.',
    ),
  SANDBOX: z
    .enum(['auto', 'required', 'off'])
    .default('auto')
    .describe(
      'Whether commands of models, checks and programs of COMMAND_RUNNERS run in a sandbox made by bubblewrap (bwrap): auto, where bwrap is installed and works; required, a worker without one does not start; off. See docs/sandbox.md.',
    ),
  SANDBOX_NETWORK: flag
    .default(false)
    .describe(
      'true: commands of models and checks may use the network from their sandbox. An entry of COMMAND_RUNNERS or CHECKS says it for itself with network.',
    ),
  SANDBOX_MEMORY_BYTES_MAX: count(0, Number.MAX_SAFE_INTEGER)
    .refine((bytes) => bytes === 0 || bytes >= SANDBOX_MEMORY_BYTES_MIN, `must be 0 or at least ${SANDBOX_MEMORY_BYTES_MIN}`)
    .default(8_589_934_592)
    .describe(
      'Bytes of memory that all processes of one sandbox may use together: 8 GiB. 0: no limit. It holds only where the worker can make cgroups, which GET /runners and muster doctor say. See docs/sandbox.md.',
    ),
  SANDBOX_PROCESSES_MAX: count(0, 4_194_304)
    .refine((processes) => processes === 0 || processes >= SANDBOX_PROCESSES_MIN, `must be 0 or at least ${SANDBOX_PROCESSES_MIN}`)
    .default(1_024)
    .describe('Processes and threads of one sandbox at once. 0: no limit. If the worker runs as root, it holds only where the worker can make cgroups.'),
  MCP_SERVERS: mcpServers
    .default({})
    .describe(
      'MCP servers whose tools the runner ai offers to sub-agents in the foreground, as JSON: {"name": {"url": "https://…", "headers": {"Authorization": "Bearer …"}}} or {"name": {"command": ["program", "argument"], "env": {"NAME": "value"}}}.',
    ),
  WEB_SEARCH_PROVIDER: z
    .enum(WEB_SEARCH_PROVIDERS)
    .optional()
    .describe(
      'Search provider of the tool WebSearch of the runner ai: brave or tavily, with WEB_SEARCH_API_KEY, or searxng, with WEB_SEARCH_URL. Absent: the tool does not exist.',
    ),
  WEB_SEARCH_API_KEY: text.optional().describe('Key of the search provider.'),
  WEB_SEARCH_URL: baseUrl
    .optional()
    .describe('Address of the search provider. Absent: the public address of brave or tavily. An instance of SearXNG must allow the format json.'),
  SUBAGENTS_DIRS: folderList
    .default([])
    .describe(
      'Absolute folders, separated by colons, whose Markdown files define sub-agents. If two files define one name, the first folder takes precedence. npm start uses subagents/ of the project.',
    ),
  BACKGROUND_MCP: z
    .enum(BACKGROUND_MCP_POLICIES)
    .default('reject')
    .describe(
      'Sub-agents with MCP tools in the background: reject refuses to start them, strip starts them without these tools. The setting of a project takes precedence.',
    ),
  SUBTASK_ENABLED: flag.default(true).describe('false: creating subtasks answers 503, and no subtask starts; reads and cancels work.'),
  SUBTASK_WORKERS: count(1, 1000).default(2).describe('Subtasks that one worker process runs at once.'),
  SUBTASK_DEFAULT_TIMEOUT: count(1, 86_400).default(120).describe('Timeout of an attempt in seconds, if the subtask names none.'),
  SUBTASK_MAX_TIMEOUT: count(1, 86_400).default(600).describe('Longest timeout in seconds that a subtask may ask for.'),
  SUBTASK_MAX_CONCURRENT: count(1, 1_000_000).default(3).describe('Subtasks of one agent that run at once, if its project sets no limit.'),
  SUBTASK_MAX_PENDING: count(1, 10_000_000).default(5).describe('Subtasks of one agent that may wait, if its project sets no limit.'),
  SUBTASK_PROJECT_MAX_CONCURRENT: count(0, 10_000_000)
    .optional()
    .describe('Subtasks of all agents of a project that run at once, if the project sets no limit. 0: no limit. Absent: 20 times SUBTASK_MAX_CONCURRENT.'),
  SUBTASK_PROJECT_MAX_PENDING: count(0, 10_000_000)
    .optional()
    .describe('Subtasks of all agents of a project that may wait, if the project sets no limit. 0: no limit. Absent: 20 times SUBTASK_MAX_PENDING.'),
  PROJECT_RUNNING_CEILING: count(1, 10_000_000)
    .default(1_000)
    .describe('The most that a project may set as a limit of running subtasks, of itself or of an agent. Limits of the server above it hold too.'),
  PROJECT_PENDING_CEILING: count(1, 10_000_000)
    .default(10_000)
    .describe('The most that a project may set as a limit of pending subtasks, of itself or of an agent. Limits of the server above it hold too.'),
  PROJECT_STORED_BYTES_CEILING: count(1, Number.MAX_SAFE_INTEGER)
    .default(107_374_182_400)
    .describe('Bytes that a project may store, unless it sets a lower limit: 100 GiB. Then it is refused what would be stored, with quota_exceeded.'),
  RUN_STORED_BYTES_CEILING: count(1, Number.MAX_SAFE_INTEGER)
    .default(67_108_864)
    .describe('Bytes that one run may store with its own credential and as its transcript, unless its project sets a lower limit: 64 MiB.'),
  RUN_FOLDER_BYTES_MAX: count(1, Number.MAX_SAFE_INTEGER)
    .default(10_737_418_240)
    .describe('Bytes that the folders of a run may take up on the disk of its worker: 10 GiB. A run whose folders are larger ends as blocked.'),
  PROJECT_WEIGHTS: projectWeights
    .default({})
    .describe(
      'Shares of projects in the starts of subtasks while several projects wait, as JSON: {"<project id>": 3}. A project without an entry has the weight 1. Workers read it.',
    ),
  SUBTASK_LEASE_SECONDS: count(2, 3600).default(30).describe('Seconds without a renewal after which a worker has lost its subtasks.'),
  SUBTASK_AGEING_SECONDS: count(1, 86_400).default(60).describe('Seconds of waiting that equal one step of priority.'),
  SCHEDULE_ENABLED: flag.default(true).describe('false: creating schedules answers 503, and no schedule fires; reads work.'),
  SCHEDULE_CHECK_INTERVAL: count(1, 3600)
    .default(60)
    .describe(
      'Longest time in seconds between two searches for due schedules. Workers also wake when a schedule is due or changed; this covers lost notifications.',
    ),
  SCHEDULE_MIN_INTERVAL_SECONDS: count(1, 86_400).default(10).describe('Shortest time in seconds between two firings of a schedule.'),
  SECRETS_KEYS: secretsKeys
    .optional()
    .describe(
      'Keys that secrets are encrypted with before they are stored, as id:key, separated by commas: 32 bytes in base64 each (openssl rand -base64 32). The first one encrypts, the others decrypt what they have encrypted; `npm run rotate-secrets` encrypts all with the first. API and workers need the same. Absent: no secret can be stored; npm start makes a key in DATA_DIR.',
    ),
  OUTBOUND_ALLOW: outboundAllow
    .default([])
    .describe(
      'Addresses besides the public internet that deliveries may reach, separated by commas: IP addresses, ranges such as 10.0.0.0/8, names of hosts. A project has to name them as well, in its setting outbound_allow.',
    ),
  TELEGRAM_API_URL: baseUrl.optional().describe('Server of the Telegram Bot API, such as one of your own. Absent: https://api.telegram.org.'),
  SMTP_URL: z
    .url({ protocol: /^smtps?$/, error: 'must look like smtps://user:password@host:465' })
    .optional()
    .describe('Server that sends e-mail to people, as smtp:// or smtps://. Absent: projects cannot have e-mail as a channel.'),
  SMTP_FROM: text.optional().describe('Sender of e-mail, such as Muster <muster@example.com>. SMTP_URL needs it.'),
  DELIVERY_CONCURRENCY: count(1, 1000).default(50).describe('Deliveries that one worker process sends at once.'),
  DELIVERY_TIMEOUT_SECONDS: count(1, 120).default(15).describe('Seconds within which a receiver has to answer.'),
  DELIVERY_RETRY_SECONDS: retrySeconds
    .prefault('5,60,300,1800,7200,18000,36000,50400,72000,72000')
    .describe(
      'Seconds between the attempts of a delivery, separated by commas; each is shortened at random by up to a fifth. After 72 hours a delivery is given up in any case.',
    ),
  REQUESTS_PER_SECOND: count(1, 1_000_000)
    .default(5_000)
    .describe('Requests a second that one API process takes from each credential, or from each address without one, on average over ten seconds.'),
  RETENTION_DAYS: retention
    .default({})
    .describe(
      'For how many days things are kept, as JSON: {"events": 30, "steps": 30, "inbox": 30, "deliveries": 90, "messages": 90, "subtasks": 365, "folders": 90} is shipped, and may be changed one by one. Then they are dropped for good, or archived first if ARCHIVE_URL is set. A project sets its own as settings.retention_days. API and worker need the same setting. See docs/storage.md.',
    ),
  RETENTION_ENABLED: flag.default(true).describe('false: this process drops nothing that is older than RETENTION_DAYS.'),
  ARCHIVE_URL: text
    .refine((value) => /^(s3:\/\/|file:\/\/\/|\/)/.test(value), 'must be an absolute folder, or look like s3://bucket/prefix')
    .optional()
    .describe(
      'Where rows are written before RETENTION_DAYS drops them: an absolute folder, or s3://bucket/prefix of any store that speaks the protocol of S3. Absent: they are dropped without a copy. API and worker need the same setting. See docs/storage.md.',
    ),
  ARCHIVE_ENDPOINT: baseUrl.optional().describe('Address of the store of ARCHIVE_URL. Absent: that of Amazon S3 in ARCHIVE_REGION.'),
  ARCHIVE_REGION: text.default('us-east-1').describe('Region of the store of ARCHIVE_URL.'),
  ARCHIVE_ACCESS_KEY_ID: text.optional().describe('Access key of the store of ARCHIVE_URL.'),
  ARCHIVE_SECRET_ACCESS_KEY: text.optional().describe('Secret of that access key.'),
  API_POOL_SIZE: count(2, 200).default(10).describe('Database connections of one API process.'),
  WORKER_POOL_SIZE: count(2, 200).default(6).describe('Database connections of one worker process.'),
  AUDIT_DAYS: count(30, 36_500).default(365).describe('Days after which entries of the audit log are deleted.'),
  SHUTDOWN_GRACE_SECONDS: count(1, 300).default(10).describe('Seconds that a process may take to end after SIGTERM.'),
})

/** The parsed environment. */
export type Settings = z.output<typeof settingsSchema>

/** All problems of an environment at once, each naming its variable. */
export class SettingsError extends Error {
  readonly problems: string[]

  constructor(problems: string[]) {
    super(
      `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    )
    this.name = 'SettingsError'
    this.problems = problems
  }
}

/**
 * Reads the settings from an environment. Empty variables count as absent.
 *
 * @throws SettingsError listing every problem
 */
export function parseSettings(environment: Record<string, string | undefined>): Settings {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([name, value]) => name in settingsSchema.shape && value !== undefined && value.trim() !== ''),
  )
  const parsed = settingsSchema.safeParse(given)
  const problems = parsed.success ? [] : parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${reasonOf(issue)}`)

  if (parsed.success) {
    const settings = parsed.data
    if (settings.AUTH === 'open' && !isLoopback(settings.HOST)) {
      problems.push(`AUTH: open is allowed only on a loopback HOST, and HOST is ${settings.HOST}; set AUTH=keys, or HOST=127.0.0.1`)
    }
    if (settings.SUBTASK_DEFAULT_TIMEOUT > settings.SUBTASK_MAX_TIMEOUT) {
      problems.push(`SUBTASK_DEFAULT_TIMEOUT: ${settings.SUBTASK_DEFAULT_TIMEOUT} is more than SUBTASK_MAX_TIMEOUT (${settings.SUBTASK_MAX_TIMEOUT})`)
    }
    if (
      settings.DEFAULT_RUNNER !== undefined &&
      !BUILT_IN_RUNNER_NAMES.includes(settings.DEFAULT_RUNNER) &&
      !(settings.DEFAULT_RUNNER in settings.COMMAND_RUNNERS)
    ) {
      problems.push(`DEFAULT_RUNNER: ${settings.DEFAULT_RUNNER} is not one of ${BUILT_IN_RUNNER_NAMES.join(', ')} or COMMAND_RUNNERS`)
    }
    if (settings.DATABASE_DIRECT_URL !== undefined && settings.DATABASE_URL === undefined) {
      problems.push('DATABASE_DIRECT_URL: is of use only beside DATABASE_URL, the address of a pooler')
    }
    if (settings.DATABASE_READ_URL !== undefined && settings.DATABASE_URL === undefined) {
      problems.push('DATABASE_READ_URL: is of use only beside DATABASE_URL, the address of the primary')
    }
    if (settings.SMTP_URL !== undefined && settings.SMTP_FROM === undefined) problems.push('SMTP_FROM: is needed for SMTP_URL: the sender of e-mail')
    problems.push(...searchProblems(settings), ...sandboxProblems(settings))
    if (settings.ARCHIVE_URL?.startsWith('s3://') && !(settings.ARCHIVE_ACCESS_KEY_ID && settings.ARCHIVE_SECRET_ACCESS_KEY)) {
      problems.push('ARCHIVE_URL: s3:// needs ARCHIVE_ACCESS_KEY_ID and ARCHIVE_SECRET_ACCESS_KEY')
    }
    if (problems.length === 0) return settings
  }
  throw new SettingsError(problems)
}

/** Settings of the API or of a worker, which need a database. */
export type ProcessSettings = Settings & { DATABASE_URL: string }

/** Where PostgreSQL itself is, and where a pooler is, if there is one before it. */
export function databaseUrls(settings: Pick<ProcessSettings, 'DATABASE_URL' | 'DATABASE_DIRECT_URL'>): { directUrl: string; pooledUrl: string | undefined } {
  const { DATABASE_URL, DATABASE_DIRECT_URL } = settings
  return DATABASE_DIRECT_URL === undefined ? { directUrl: DATABASE_URL, pooledUrl: undefined } : { directUrl: DATABASE_DIRECT_URL, pooledUrl: DATABASE_URL }
}

/** @throws SettingsError listing every problem */
export function parseProcessSettings(environment: Record<string, string | undefined>): ProcessSettings {
  const settings = parseSettings(environment)
  const { DATABASE_URL } = settings
  if (DATABASE_URL === undefined) throw new SettingsError(['DATABASE_URL: this process needs it; `npm start` brings a PostgreSQL of its own'])
  return { ...settings, DATABASE_URL }
}

/** What is wrong; of a name that cannot be one, why. */
function reasonOf(issue: z.core.$ZodIssue): string {
  return issue.code === 'invalid_key' ? issue.issues.map(({ message }) => message).join('; ') : issue.message
}

/** Entries that contradict SANDBOX=required. */
function sandboxProblems({ SANDBOX, COMMAND_RUNNERS, CHECKS }: z.output<typeof settingsSchema>): string[] {
  if (SANDBOX !== 'required') return []
  return Object.entries({ ...COMMAND_RUNNERS, ...CHECKS }).flatMap(([name, { sandbox }]) =>
    sandbox === false ? [`SANDBOX: is required, and "${name}" has sandbox: false`] : [],
  )
}

/** What a provider of searches needs, and has not. */
function searchProblems({ WEB_SEARCH_PROVIDER: provider, WEB_SEARCH_API_KEY: key, WEB_SEARCH_URL: url }: z.output<typeof settingsSchema>): string[] {
  if (provider === undefined) return []
  if (provider === 'searxng') return url === undefined ? ['WEB_SEARCH_URL: is needed for searxng: the address of your instance'] : []
  return key === undefined ? [`WEB_SEARCH_API_KEY: is needed for ${provider}`] : []
}
