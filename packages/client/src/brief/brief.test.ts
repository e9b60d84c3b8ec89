import Anthropic from '@anthropic-ai/sdk'
import { generateText, stepCountIs, streamText, tool, wrapLanguageModel } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { briefMiddleware } from '../ai-sdk.ts'
import { withBrief as withAnthropicBrief } from '../anthropic.ts'
import { Muster } from '../index.ts'
import { withBrief as withOpenAiBrief } from '../openai.ts'

/** A Muster that delivers these texts, one a request, and keeps what it is sent. */
function fakeMuster(...texts: string[]) {
  const sent: { path: string; body: Record<string, unknown> }[] = []
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const { pathname, search } = new URL(String(input))
    sent.push({ path: `${pathname}${search}`, body: init?.body == null ? {} : (JSON.parse(String(init.body)) as Record<string, unknown>) })
    if (pathname.endsWith('/ack')) return new Response(null, { status: 204 })
    if (pathname.endsWith('/messages')) return Response.json({ id: 'm1' }, { status: 201 })
    const text = texts.shift() ?? ''
    return Response.json({ text, items: [], claim_id: text === '' ? null : `claim of ${text}`, lease_expires_at: null })
  }
  return { brief: new Muster({ fetch, retries: 0 }).brief('writer'), sent, paths: () => sent.map(({ path }) => path) }
}

const INJECT = '/sessions/writer/injections?ack=manual'
const ACK = '/sessions/writer/injections/claim%20of%20The%20brief./ack'
const STORE = '/sessions/writer/messages'

describe('the brief of a session', () => {
  it('adds what is new to the end of the messages, and has the latest scanned for failures, results of tools among them', async () => {
    const { brief, sent } = fakeMuster('The brief.')
    const messages: unknown[] = [
      { role: 'user', content: 'Old.' },
      { role: 'user', content: 'Start it.' },
      { role: 'assistant', content: [{ type: 'text', text: 'Yes.' }] },
      { role: 'user', content: [{ type: 'tool_result', content: [{ type: 'text', text: 'EADDRINUSE' }] }] },
    ]
    await brief.inject(messages)
    expect(messages.at(-1)).toEqual({ role: 'user', content: 'The brief.' })
    expect(sent[0]?.body).toEqual({ messages: ['Start it.', 'Yes.', 'EADDRINUSE'] })
    await brief.inject(messages)
    expect(messages).toHaveLength(5)
  })

  it('is not delivered by a request that failed', async () => {
    const { brief, paths } = fakeMuster('The brief.')
    const messages: unknown[] = []
    await expect(brief.around(messages, () => Promise.reject(new Error('overloaded')))).rejects.toThrow('overloaded')
    expect(messages).toEqual([])
    expect(paths()).toEqual([INJECT])
  })

  it('keeps the answer of the model when it cannot be acknowledged, and reports that', async () => {
    const errors: unknown[] = []
    const fetch: typeof globalThis.fetch = async (input) =>
      String(input).includes('/ack')
        ? new Response('gone', { status: 500 })
        : Response.json({ text: 'The brief.', items: [], claim_id: 'c1', lease_expires_at: null })
    const brief = new Muster({ fetch, retries: 0 }).brief('writer', { onError: (error) => errors.push(error) })
    expect(await brief.around([], async () => 'answer')).toBe('answer')
    expect(errors).toMatchObject([{ code: 'answer_invalid', status: 500 }])
  })
})

describe('the helper for the SDK of OpenAI', () => {
  it('adds, calls, acknowledges and stores, for Chat Completions and Responses', async () => {
    const { brief, sent, paths } = fakeMuster('The brief.', 'An update.')
    const asked: Record<string, unknown>[] = []
    const openai = new OpenAI({
      apiKey: 'none',
      fetch: async (url, init) => {
        asked.push(JSON.parse(String(init?.body)) as Record<string, unknown>)
        const answer = { role: 'assistant', content: 'Written.' }
        if (String(url).endsWith('/responses'))
          return Response.json({
            object: 'response',
            model: 'm',
            output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Again.' }] }],
          })
        return Response.json({ model: 'm', usage: { total_tokens: 7 }, choices: [{ index: 0, message: answer }] })
      },
    })
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Begin.' }]
    const completion = await withOpenAiBrief(brief, { model: 'm', messages }, (request) => openai.chat.completions.create(request))
    expect(completion.choices[0]?.message.content).toBe('Written.')
    expect(asked[0]?.messages).toEqual([
      { role: 'user', content: 'Begin.' },
      { role: 'user', content: 'The brief.' },
    ])
    expect(paths()).toEqual([INJECT, ACK, STORE])
    expect(sent.at(-1)?.body).toEqual({ role: 'assistant', content: 'Written.', model: 'm', usage: { total_tokens: 7 } })

    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Go on.' }]
    const response = await withOpenAiBrief(brief, { model: 'm', input }, (request) => openai.responses.create(request))
    expect(response.output_text).toBe('Again.')
    expect(asked[1]?.input).toHaveLength(2)
    expect(sent.at(-1)?.body).toMatchObject({ content: 'Again.' })
  })
})

describe('the helper for the SDK of Anthropic', () => {
  it('adds, calls, acknowledges and stores the text', async () => {
    const { brief, sent, paths } = fakeMuster('The brief.')
    const anthropic = new Anthropic({
      apiKey: 'none',
      fetch: async () => Response.json({ model: 'm', role: 'assistant', content: [{ type: 'text', text: 'Written.' }], usage: { output_tokens: 2 } }),
    })
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Begin.' }]
    const answer = await withAnthropicBrief(brief, { model: 'm', max_tokens: 100, messages }, (request) => anthropic.messages.create(request))
    expect(answer.content).toHaveLength(1)
    expect(messages.at(-1)).toEqual({ role: 'user', content: 'The brief.' })
    expect(paths()).toEqual([INJECT, ACK, STORE])
    expect(sent.at(-1)?.body).toEqual({ role: 'assistant', content: 'Written.', model: 'm', usage: { output_tokens: 2 } })
  })
})

describe('the middleware for the AI SDK', () => {
  const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } }
  const textsOf = (prompt: { role: string; content: unknown }[]) =>
    prompt.map(({ role, content }) => (role === 'user' ? (content as { text: string }[])[0]?.text : role))

  it('adds to each call, in its place, what was delivered before an earlier one, and stores the answers', async () => {
    const { brief, sent } = fakeMuster('The brief.', 'An update.')
    const answers = [
      {
        content: [{ type: 'tool-call' as const, toolCallId: 't1', toolName: 'look', input: '{}' }],
        finishReason: { unified: 'tool-calls' as const, raw: undefined },
      },
      { content: [{ type: 'text' as const, text: 'Written.' }], finishReason: { unified: 'stop' as const, raw: undefined } },
    ]
    const model = new MockLanguageModelV4({ doGenerate: answers.map((answer) => ({ ...answer, usage, warnings: [] })) })
    const { text } = await generateText({
      model: wrapLanguageModel({ model, middleware: briefMiddleware(brief) }),
      prompt: 'Begin.',
      tools: { look: tool({ inputSchema: z.object({}), execute: () => 'Nothing.' }) },
      stopWhen: stepCountIs(3),
    })
    expect(text).toBe('Written.')
    expect(model.doGenerateCalls.map(({ prompt }) => textsOf(prompt))).toEqual([
      ['Begin.', 'The brief.'],
      ['Begin.', 'The brief.', 'assistant', 'tool', 'An update.'],
    ])
    expect(sent.map(({ path }) => path.split('/').at(-1))).toEqual(['injections?ack=manual', 'ack', 'injections?ack=manual', 'ack', 'messages'])
    expect(sent.at(-1)?.body).toMatchObject({ role: 'assistant', content: 'Written.' })
  })

  it('stores the answer of a stream when it has ended', async () => {
    const { brief, sent, paths } = fakeMuster('The brief.')
    const parts = [
      { type: 'text-start' as const, id: '1' },
      { type: 'text-delta' as const, id: '1', delta: 'Writ' },
      { type: 'text-delta' as const, id: '1', delta: 'ten.' },
      { type: 'text-end' as const, id: '1' },
      { type: 'finish' as const, finishReason: { unified: 'stop' as const, raw: undefined }, usage },
    ]
    const stream = ReadableStream.from(parts)
    const model = new MockLanguageModelV4({ doStream: async () => ({ stream }) })
    const { text } = streamText({ model: wrapLanguageModel({ model, middleware: briefMiddleware(brief) }), prompt: 'Begin.' })
    expect(await text).toBe('Written.')
    expect(paths()).toEqual([INJECT, ACK, STORE])
    expect(sent.at(-1)?.body).toMatchObject({ content: 'Written.' })
  })
})
