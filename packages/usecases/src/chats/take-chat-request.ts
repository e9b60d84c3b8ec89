import {
  type BotChat,
  type ChatAction,
  type ChatBot,
  type ChatReply,
  type ChatRequest,
  DomainError,
  type MessageButton,
  type PersonMessage,
  questionMessage,
  type Scope,
  type Subtask,
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
 * notice commits with the effect: the same update again, also from another worker after a crash, changes nothing and has the same notice.
 *
 * @throws only what is no answer for a person: an outage of the database, or `request_in_progress` while another worker does the same
 */
export async function takeChatRequest(deps: Deps, { key }: Pick<ChatBot, 'key'>, chat: Pick<BotChat, 'projectId'>, request: ChatRequest): Promise<ChatReply> {
  const { what, from } = request
  const update = `telegram/${key}/${request.updateId}`
  const operation = what.kind === 'press' ? what.action.kind : what.kind
  const ctx: Ctx = {
    ...deps,
    actor: { kind: 'telegram', ...from, projectId: chat.projectId, scopes: SCOPES, agentId: null, lineage: null },
    origin: { door: 'telegram', address: null, operation, requestId: null, ids: {}, fields: [] },
  }
  try {
    if (what.kind === 'command') return says('', what.command === 'status' ? await statusMessages(ctx) : await inboxMessages(ctx))
    if (what.kind === 'answer') {
      const notice = '✅ Answered.'
      await answerQuestion(
        once(ctx, update, () => ({ notice, update })),
        what.questionId,
        { answer: what.text },
      )
      return says(notice)
    }
    return says(await act(ctx, update, what.action), [], what.action.kind !== 'write')
  } catch (error) {
    if (error instanceof Replay) return says(noticeBefore(error.answer.body, update), [], what.kind === 'press')
    if (!(error instanceof DomainError) || ['unavailable', 'request_in_progress'].includes(error.code)) throw error
    return says(`⚠️ ${error.message}`)
  }
}

function says(notice: string, messages: PersonMessage[] = [], isSettled = false): ChatReply {
  return { notice, messages, isSettled }
}

/** Returns what the person who pressed the button reads. */
async function act(ctx: Ctx, update: string, action: ChatAction): Promise<string> {
  const answer = async (questionId: string, given: Parameters<typeof answerQuestion>[2], notice: string) => {
    await answerQuestion(
      once(ctx, update, () => ({ notice, update })),
      questionId,
      given,
    )
    return notice
  }
  switch (action.kind) {
    case 'choose': {
      const { options } = await getQuestion(ctx, action.questionId)
      const option = options?.[action.place]
      if (option === undefined) throw new DomainError('not_found', 'This question has no such option.')
      return await answer(action.questionId, { option_id: option.id }, `✅ Answered: ${option.label}`)
    }
    case 'write':
      return 'Reply to this message with your answer.'
    case 'approve':
    case 'reject':
      return await answer(action.questionId, { decision: action.kind }, action.kind === 'approve' ? '✅ Approved.' : '🚫 Rejected.')
    case 'cancel': {
      const noticeOf = ({ cancelled }: Awaited<ReturnType<typeof cancelSubtask>>) => (cancelled ? '⏹ Cancelled.' : '⏹ It was asked to stop.')
      return noticeOf(
        await cancelSubtask(
          once<Awaited<ReturnType<typeof cancelSubtask>>>(ctx, update, (result) => ({ notice: noticeOf(result), update })),
          action.subtaskId,
        ),
      )
    }
    case 'retry': {
      const noticeOf = ({ id }: Subtask) => `🔁 Runs again, as subtask ${id}.`
      // A subtask is retried once, by any person who presses the button, in which message, and however often it arrives. Keys belong to their caller, and
      // here the chat is one.
      const chat = { ...ctx, actor: { ...ctx.actor, id: 'chat', name: ctx.actor.name ?? ctx.actor.id } }
      const key = `telegram/retry/${action.subtaskId}`
      return noticeOf(
        await retrySubtask(
          once<Subtask>(chat, key, (again) => ({ notice: noticeOf(again), update })),
          action.subtaskId,
        ),
      )
    }
  }
}

/** What is stored with the effect of an update. */
interface Done {
  notice: string
  update: string
}

function once<T>(ctx: Ctx, key: string, doneOf: (result: T) => Done): Ctx {
  return { ...ctx, idempotency: { key, requestHash: hashToken(key), toAnswer: (result) => ({ status: 200, headers: {}, body: doneOf(result as T) }) } }
}

/** Another update may have done the same. */
function noticeBefore(stored: unknown, update: string): string {
  const done = stored as Done | null
  return done?.update === update ? done.notice : 'It was done before.'
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
