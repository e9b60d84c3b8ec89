import { describe, expect, it } from 'vitest'
import { createRedact } from './redact.ts'
import { saidByTool, spokenInCall } from './span-content.ts'

const redact = createRedact({ API_TOKEN: 'sk-confidential' }, {})
const request = { id: 'c1', name: 'Read', input: { path: 'a.md' }, problem: null }

describe('the content of a span', () => {
  it('has the instructions, the conversation and the answer of a call in the shape of the conventions, without secrets', () => {
    const spoken = spokenInCall(redact, {
      instructions: 'Be brief.',
      messages: [
        { role: 'user', content: 'Use sk-confidential.' },
        { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'Read', input: { path: 'a.md' } }] },
        { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'Read', output: { type: 'text', value: 'Text.' } }] },
      ],
      end: { kind: 'failed', error: new Error('closed'), text: 'It' },
    })
    expect(spoken).toEqual({
      'gen_ai.system_instructions': [{ type: 'text', content: 'Be brief.' }],
      'gen_ai.input.messages': [
        { role: 'user', parts: [{ type: 'text', content: 'Use [API_TOKEN removed].' }] },
        { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'Read', arguments: { path: 'a.md' } }] },
        { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: { type: 'text', value: 'Text.' } }] },
      ],
      'gen_ai.output.messages': [{ role: 'assistant', parts: [{ type: 'text', content: 'It' }] }],
    })
  })

  it('has what a tool was asked and answered, and no answer of one that waits', () => {
    expect(saidByTool(redact, request, 'It says sk-confidential.')).toEqual({
      'gen_ai.tool.call.arguments': { path: 'a.md' },
      'gen_ai.tool.call.result': 'It says [API_TOKEN removed].',
    })
    expect(saidByTool(redact, request, undefined)).toEqual({ 'gen_ai.tool.call.arguments': { path: 'a.md' } })
  })
})
