import {
  type BotChat,
  type ChatAction,
  type ChatReply,
  type ChatRequest,
  DomainError,
  type MessageButton,
  type PersonMessage,
  questionMessage,
  type Scope,
  type SubtaskStatus,
  shortenToLine,
} from '@muster/domain'
import { type Ctx, type Deps, Replay } from '../core/ctx.ts'
import { hashToken } from '../core/secrets.ts'
import { answerQuestion } from '../questions/answer-question.ts'
import { getQuestion, listQuestions } from '../questions/read-questions.ts'
import { cancelSubtask } from '../subtasks/cancel-subtask.ts'
import { listSubtasks } from '../subtasks/read-subtasks.ts'
import { retrySubtask } from '../tasks/retry-subtask.ts'

const SCOPES: readonly Scope[] = ['subtasks:read', 'subtasks:write', 'tasks:read', 'tasks:write', 'subagents:spawn']
const STATUS_SHOWN = 10
const INBOX_SHOWN = 5
const SHOWN: readonly SubtaskStatus[] = ['running', 'waiting', 'pending']

/**
 * Does what a person asks for in the chat of a project, as a user of Telegram with the rights of the chat: it answers, approves, cancels and retries. The
 * same request again changes nothing and has the same answer.
 *
 * @throws only what is no answer for a person, such as an outage of the database
 */
export async function takeChatRequest(deps: Deps, chat: Pick<BotChat, 'projectId'>, request: ChatRequest): Promise<ChatReply> {
  const { what, from } = request
  const operation = what.kind === 'press' ? what.action.kind : what.kind
  const ctx: Ctx = {
    ...deps,
    actor: { kind: 'telegram', ...from, projectId: chat.projectId, scopes: SCOPES, agentId: null, lineage: null },
    origin: { door: 'telegram', address: null, operation, requestId: null, ids: {}, fields: [] },
  }
  try {
    if (what.kind === 'command') return says('', what.command === 'status' ? await statusMessages(ctx) : await inboxMessages(ctx))
    if (what.kind === 'answer') {
      await answerQuestion(ctx, what.questionId, { answer: what.text })
      return says('✅ Answered.')
    }
    return await act(ctx, what.action)
  } catch (error) {
    if (error instanceof Replay) return says('It was done before.', [], true)
    if (!(error instanceof DomainError) || error.code === 'unavailable') throw error
    return says(`⚠️ ${error.message}`)
  }
}

function says(notice: string, messages: PersonMessage[] = [], isSettled = false): ChatReply {
  return { notice, messages, isSettled }
}

async function act(ctx: Ctx, action: ChatAction): Promise<ChatReply> {
  switch (action.kind) {
    case 'choose': {
      const { options } = await getQuestion(ctx, action.questionId)
      const option = options?.[action.place]
      if (option === undefined) return says('This question has no such option.')
      await answerQuestion(ctx, action.questionId, { option_id: option.id })
      return says(`✅ Answered: ${option.label}`, [], true)
    }
    case 'write':
      return says('Reply to this message with your answer.')
    case 'approve':
    case 'reject':
      await answerQuestion(ctx, action.questionId, { decision: action.kind })
      return says(action.kind === 'approve' ? '✅ Approved.' : '🚫 Rejected.', [], true)
    case 'cancel': {
      const { cancelled } = await cancelSubtask(ctx, action.subtaskId)
      return says(cancelled ? '⏹ Cancelled.' : '⏹ It was asked to stop.', [], true)
    }
    case 'retry': {
      const again = await retrySubtask(onceFor(ctx, `telegram/retry/${action.subtaskId}`), action.subtaskId)
      return says(`🔁 Runs again, as subtask ${again.id}.`, [], true)
    }
  }
}

/** A subtask is retried once, by any person who presses the button, in which message, and however often it arrives. */
function onceFor(ctx: Ctx, key: string): Ctx {
  // Keys belong to their caller, and here the chat is one.
  const actor = { ...ctx.actor, id: 'chat', name: ctx.actor.name ?? ctx.actor.id }
  return { ...ctx, actor, idempotency: { key, requestHash: hashToken(key), toAnswer: () => ({ status: 202, headers: {}, body: null }) } }
}

/** What runs, waits and is queued, with a button to cancel each. */
async function statusMessages(ctx: Ctx): Promise<PersonMessage[]> {
  const pages = await Promise.all(SHOWN.map((status) => listSubtasks(ctx, { status, limit: STATUS_SHOWN })))
  const open = await listQuestions(ctx, { status: 'open', limit: STATUS_SHOWN })
  const counts = [
    ...SHOWN.map((status, place) => `${status}: ${counted(pages[place])}`),
    ...(open.items.length === 0 ? [] : [`open questions: ${counted(open)} (/inbox)`]),
  ]
  const shown = pages.flatMap(({ items }) => items).slice(0, STATUS_SHOWN)
  const lines = shown.map(({ task, status }, place) => `${place + 1}. ${status} — ${shortenToLine(task)}`)
  const buttons = shown.map(
    ({ id, task }, place): MessageButton => ({
      label: `⏹ Cancel ${place + 1}: ${shortenToLine(task)}`,
      action: { kind: 'cancel', subtaskId: id },
    }),
  )
  return [{ heading: '📋 Status', text: [...counts, ...(lines.length === 0 ? [] : ['', ...lines])].join('\n'), buttons }]
}

function counted(page: { items: readonly unknown[]; nextCursor: string | null } | undefined): string {
  return `${page?.items.length ?? 0}${page?.nextCursor == null ? '' : ' or more'}`
}

/** The open questions, each with its buttons, the latest last. */
async function inboxMessages(ctx: Ctx): Promise<PersonMessage[]> {
  const { items, nextCursor } = await listQuestions(ctx, { status: 'open', limit: INBOX_SHOWN })
  if (items.length === 0) return [{ heading: '📭 Nothing waits for an answer.', text: '', buttons: [] }]
  const more: PersonMessage[] = nextCursor === null ? [] : [{ heading: '📬 More questions wait.', text: 'Answer these, and ask again.', buttons: [] }]
  return [...items.reverse().map(questionMessage), ...more]
}
