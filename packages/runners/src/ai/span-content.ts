import type { ModelMessage } from 'ai'
import type { CallEnd, ToolRequest } from './model-call.ts'
import { type Redact, redactJson } from './redact.ts'

interface SpokenCall {
  instructions: string
  messages: readonly ModelMessage[]
  end: CallEnd
}

/** What was said in a call of a model, without secrets, as the semantic conventions for generative AI name and shape it. */
export function spokenInCall(redact: Redact, { instructions, messages, end }: SpokenCall): Record<string, unknown> {
  const said: readonly ModelMessage[] = end.kind === 'answer' ? end.answer.messages : [{ role: 'assistant', content: end.text }]
  return redactJson(
    {
      'gen_ai.system_instructions': [{ type: 'text', content: instructions }],
      'gen_ai.input.messages': messages.map(toMessage),
      'gen_ai.output.messages': said.map(toMessage),
    },
    redact,
  ) as Record<string, unknown>
}

/** What a tool was asked, and what it answered; undefined while it awaits an answer itself. */
export function saidByTool(redact: Redact, { input }: ToolRequest, result: string | undefined): Record<string, unknown> {
  const said = { 'gen_ai.tool.call.arguments': input, ...(result !== undefined && { 'gen_ai.tool.call.result': result }) }
  return redactJson(said, redact) as Record<string, unknown>
}

function toMessage({ role, content }: ModelMessage) {
  return { role, parts: typeof content === 'string' ? [{ type: 'text', content }] : content.flatMap(toPart) }
}

/** Parts that the conventions have no name for are left out. */
function toPart(part: Exclude<ModelMessage['content'], string>[number]): Record<string, unknown>[] {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return [{ type: part.type, content: part.text }]
    case 'tool-call':
      return [{ type: 'tool_call', id: part.toolCallId, name: part.toolName, arguments: part.input }]
    case 'tool-result':
      return [{ type: 'tool_call_response', id: part.toolCallId, response: part.output }]
    default:
      return []
  }
}
