import { checkTool, toolUseOf } from '@muster/domain'
import type { Approvals } from '../approvals.ts'
import type { Run } from '../port.ts'
import type { PermissionRequest } from './messages.ts'
import type { ToolRules } from './tool-rules.ts'

/** The answer to a request of the program whether a tool may be used. */
export type PermissionAnswer = { behavior: 'allow'; updatedInput: Record<string, unknown> } | { behavior: 'deny'; message: string }

/** What the program stops at whatever its rules say, such as a write to its own settings: without a rule that asks, no person is present to approve it. */
const FORCED_BY_RULE = new Set([undefined, 'rule'])

/**
 * Decides about a use of a tool that has rules about uses that ask. The program asks about each use of such a tool, so it is decided here by Muster's rules: whether the
 * definition allows it, and whether it has to be approved.
 *
 * @throws where the run is stopped
 */
export async function decidePermission(
  run: Pick<Run, 'ask' | 'brief' | 'workspace'>,
  { ask }: Pick<ToolRules, 'ask'>,
  approvals: Approvals,
  { tool_name: tool, input, decision_reason_type: reason }: PermissionRequest,
  signal: AbortSignal,
): Promise<PermissionAnswer> {
  if (!ask.includes(tool)) return denied(`No rule allows this use of ${tool}, and no user is present to ask.`)
  const use = useOf(run, tool, input)
  const problem = problemOf(run, use)
  if (problem !== null) return denied(problem)
  const rules = approvals.rulesFor(use)
  if (rules.length === 0)
    return FORCED_BY_RULE.has(reason)
      ? { behavior: 'allow', updatedInput: input }
      : denied(`This use of ${tool} needs a person's approval, and no user is present.`)
  const planned = { tool, use, input, rules }
  const question = approvals.questionOf(planned)
  if ('refusal' in question) return denied(question.refusal)
  const approval = approvals.take(planned, await run.ask(question, signal))
  if (approval.kind === 'refused') return denied(approval.text)
  const editedProblem = approval.isEdited ? problemOf(run, useOf(run, tool, approval.input)) : null
  return editedProblem === null ? { behavior: 'allow', updatedInput: approval.input } : denied(editedProblem)
}

function useOf({ workspace }: Pick<Run, 'workspace'>, toolName: string, toolInput: unknown): string {
  return toolUseOf({ toolName, toolInput, cwd: workspace })
}

/** Why the definition does not allow a use. */
function problemOf({ brief: { subagent = null, background = true } }: Pick<Run, 'brief'>, use: string): string | null {
  const answer = subagent === null ? null : checkTool(subagent, { toolName: use, background })
  return answer === null || answer.allowed ? null : answer.reason
}

function denied(message: string): PermissionAnswer {
  return { behavior: 'deny', message }
}
