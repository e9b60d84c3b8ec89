import type { SpanOptions } from '@muster/domain'
import { type Harness, startHarness } from '@muster/testing'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startSpanAfter } from './spans.ts'

let harness: Harness
beforeEach(async () => {
  harness = await startHarness()
})
afterEach(() => harness.close())

it('a span whose trace cannot be read begins one, and what it is about goes on', async () => {
  const started: SpanOptions[] = []
  const span = { traceparent: '', traceId: '', set() {}, content() {}, event() {}, end() {} }
  const tracing = {
    start(_name: string, options: SpanOptions) {
      started.push(options)
      return span
    },
  }
  const subtaskId = () => Promise.reject(new Error('the connection is lost'))
  const { projectId } = harness.ctx.actor
  expect(await startSpanAfter({ ...harness.deps, tracing }, { projectId, subtaskId }, 'check tests', {})).toBe(span)
  expect(started).toEqual([{ parent: null }])
})
