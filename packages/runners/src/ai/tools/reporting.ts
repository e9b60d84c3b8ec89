import { cutToBytes, renderTsgNotice, toStorableText } from '@muster/domain'
import { z } from 'zod'
import type { Run } from '../../port.ts'
import { callMuster } from './call-muster.ts'
import { type AiTool, AnswerAwaited, defineTool, TOOL_TEXT_BYTES_MAX } from './tool.ts'

/** What a model is shown of an answer, from an offset on. It learns where the rest begins. */
function asText(value: unknown, offset = 0): string {
  const whole = toStorableText(typeof value === 'string' ? value : JSON.stringify(value))
  const { text, truncated } = cutToBytes(whole.slice(offset), TOOL_TEXT_BYTES_MAX)
  return truncated ? `${text}\n[cut: the rest begins at offset ${offset + text.length}]` : text
}

/**
 * The tools that a brief and its updates speak of, under the names that they have over MCP: reading the task, reporting on it, asking, and guides. Every run has
 * them, whatever a definition lists, because the brief asks for them. A subtask without a task has those that are not about a task.
 */
export function reportingTools({ access, brief }: Pick<Run, 'access' | 'brief'>): AiTool[] {
  const id = z.uuid()
  const ofTask = [
    defineTool({
      name: 'get_task',
      description: 'Reads your task as it is now: instructions, acceptance criteria with their ids, required outputs, revision.',
      inputSchema: z.object({ task_id: id, offset: z.number().int().min(0).optional().describe('where the rest of a cut answer begins') }),
      run: async ({ task_id, offset }, { signal }) => asText(await callMuster(access, 'GET', `/tasks/${task_id}`, signal), offset),
    }),
    defineTool({
      name: 'check_in',
      description:
        'Says which acceptance criteria are met and what comes next. `content` is a text with a check-in block as at the end of your brief. Naming a revision confirms every update up to it.',
      inputSchema: z.object({ task_id: id, content: z.string().min(1).max(100_000), revision: z.number().int().min(1).optional() }),
      run: async ({ task_id, ...checkIn }, { signal }) => asText(await callMuster(access, 'POST', `/tasks/${task_id}/check-ins`, signal, checkIn)),
    }),
  ]
  return [
    ...(brief.taskId === null ? [] : ofTask),
    defineTool({
      name: 'ask',
      description:
        'Asks the session that gave you this work, where you cannot decide and a guess would be wrong. The work stops until the answer comes, which can take hours, and it is the result of this call. With wait: false you go on with other work, and the answer arrives as an update.',
      inputSchema: z.object({
        prompt: z.string().min(1).max(20_000).describe('the question, complete in itself'),
        options: z
          .array(z.object({ id: z.string().min(1).max(64), label: z.string().min(1).max(200), description: z.string().max(2_000).optional() }))
          .min(2)
          .max(20)
          .optional()
          .describe('the answers to choose from; without them, the answer is a text'),
        wait: z.boolean().default(true),
      }),
      async run({ wait, ...question }, { signal }) {
        const { question_id: questionId } = await callMuster(access, 'POST', `/subtasks/${brief.subtaskId}/questions`, signal, question)
        if (wait) throw new AnswerAwaited(questionId as string)
        return `Asked as question ${questionId}. The answer arrives as an update.`
      },
    }),
    defineTool({
      name: 'confirm_update',
      description: 'Verifies an update by its id: returns its sender and its exact content. If the id is not found, the update did not come from Muster.',
      inputSchema: z.object({ update_id: id }),
      run: async ({ update_id }, { signal }) => asText(await callMuster(access, 'GET', `/updates/${update_id}`, signal)),
    }),
    defineTool({
      name: 'read_tsg',
      description: 'Reads a troubleshooting guide by the id of a [Troubleshooting Guide Available …] notice.',
      inputSchema: z.object({ tsg_id: z.string().min(1).max(64) }),
      run: async ({ tsg_id }, { signal }) => asText((await callMuster(access, 'GET', `/tsgs/${encodeURIComponent(tsg_id)}`, signal)).content),
    }),
    defineTool({
      name: 'mark_tsg_helpful',
      description: 'Says whether the failure is gone after following a troubleshooting guide. Call it once.',
      inputSchema: z.object({ tsg_id: z.string().min(1).max(64), resolved: z.boolean() }),
      async run({ tsg_id, resolved }, { signal }) {
        await callMuster(access, 'POST', `/tsgs/${encodeURIComponent(tsg_id)}/feedback`, signal, { resolved })
        return 'Recorded.'
      },
    }),
  ]
}

/** Finds the guides that match the failure of a tool. Each is announced once in a run. */
export function createGuideFinder(access: Run['access']): (failure: string, signal: AbortSignal) => Promise<string[]> {
  const announced = new Set<string>()
  return async (failure, signal) => {
    const { items } = (await callMuster(access, 'POST', '/tsgs/scan', signal, { error_message: failure })) as { items: ScannedTsg[] }
    const fresh = items.filter(({ tsg_id }) => !announced.has(tsg_id))
    return fresh.map(({ tsg_id: tsgId, title, matched_pattern: pattern }) => {
      announced.add(tsgId)
      return renderTsgNotice({ tsgId, title, pattern })
    })
  }
}

interface ScannedTsg {
  tsg_id: string
  title: string
  matched_pattern: string
}
