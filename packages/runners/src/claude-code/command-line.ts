import { dirname } from 'node:path'
import type { RequiredOutput } from '@muster/domain'
import { type Environment, type ProgramEnvironment, programEnvironment } from '../command/program.ts'
import { musterVariables } from '../command/runner.ts'
import type { Run } from '../port.ts'
import type { PrivateFolder } from './private-folder.ts'
import type { ProgramSession } from './saved-session.ts'
import type { ClaudeCodeSettings } from './settings.ts'
import type { ToolRules } from './tool-rules.ts'

/** Tries of one model call beyond the first: about half a minute of trouble, as with the runner `ai`. */
const RETRIES_MAX = 5

/**
 * The arguments of the program. Nothing in them is secret: every user of the machine may read them.
 *
 * `--restricted` keeps the file tools in the working folder, ignores settings of the user and of the project, and has no commands that are not named.
 * `dontAsk` without a person to ask denies whatever no rule allows; permissions are never bypassed. Where some tools ask, the program asks over its output, and whatever
 * is not about such a tool is denied (`decidePermission`).
 */
export function argumentsOf(
  run: Pick<Run, 'brief' | 'budget'>,
  folder: PrivateFolder,
  session: ProgramSession,
  rules: ToolRules,
  model: string | null,
): string[] {
  const { brief, budget } = run
  const turns = brief.subagent?.maxTurns ?? null
  return [
    ...['--print', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose', '--include-partial-messages', '--replay-user-messages'],
    ...['--restricted', '--setting-sources', '', '--settings', folder.settings, '--strict-mcp-config', '--mcp-config', folder.mcpConfig],
    ...permissionArguments(rules),
    ...['--tools', rules.tools.join(',')],
    ...['--append-system-prompt-file', folder.instructions, '--disable-slash-commands', '--no-chrome'],
    // It is kept in the private folder, for a run that waits for an answer.
    ...[session.isResumed ? '--resume' : '--session-id', session.id],
    ...(model === null ? [] : ['--model', model]),
    ...(turns === null ? [] : ['--max-turns', String(turns)]),
    ...(budget.costUsdMicros === null ? [] : ['--max-budget-usd', (budget.costUsdMicros / 1_000_000).toFixed(6)]),
    ...(brief.requiredOutputs.length === 0 ? [] : ['--json-schema', JSON.stringify(answerSchema(brief.requiredOutputs))]),
  ]
}

function permissionArguments({ ask }: ToolRules): string[] {
  if (ask.length === 0) return ['--permission-mode', 'dontAsk', '--permission-prompts', 'none']
  return ['--permission-mode', 'manual', '--permission-prompts', 'host', '--permission-prompt-tool', 'stdio']
}

/** How a run answers that has to bring outputs along: its result, and each output by its name. */
function answerSchema(outputs: readonly RequiredOutput[]): Record<string, unknown> {
  const schemaOf = ({ description, schema }: RequiredOutput) => {
    // References lead to places of the whole schema, which is another one here. Muster itself holds the output against it in the end.
    const usable = schema === null || JSON.stringify(schema).includes('"$') ? {} : schema
    return { ...usable, ...(description !== null && { description }) }
  }
  return {
    type: 'object',
    properties: {
      result: { type: 'string', description: 'The complete result of the task, as text.' },
      outputs: {
        type: 'object',
        properties: Object.fromEntries(outputs.map((output) => [output.name, schemaOf(output)])),
        required: outputs.map(({ name }) => name),
      },
    },
    required: ['result', 'outputs'],
  }
}

/** The whole environment of the program: no folder and no login of the machine's user, and no call that is not the work's own. */
export function environmentOf(run: Run, folder: PrivateFolder, settings: ClaudeCodeSettings, environment: Environment): ProgramEnvironment {
  const own: Record<string, string | undefined> = {
    ANTHROPIC_API_KEY: settings.ANTHROPIC_API_KEY,
    ANTHROPIC_BASE_URL: settings.ANTHROPIC_BASE_URL,
    HOME: folder.home,
    TMPDIR: folder.temporary,
    CLAUDE_CODE_TMPDIR: folder.temporary,
    CLAUDE_CONFIG_DIR: folder.config,
    CLAUDE_CODE_MAX_RETRIES: String(RETRIES_MAX),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
    CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
    // A workspace of Muster's may lie in a repository of the operator. Its branch and commits are not for the model: the first variable keeps commands from
    // finding it, the second the program's own prompt.
    ...(run.ownsWorkspace && { GIT_CEILING_DIRECTORIES: dirname(run.workspace), CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS: '1' }),
    ...(settings.ENABLE_BASH_TOOL && { CLAUDE_CODE_SHELL_PREFIX: folder.shell }),
  }
  const given = Object.entries(own).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return programEnvironment(environment, Object.fromEntries(given), musterVariables(run))
}
