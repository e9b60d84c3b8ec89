import { describe, expect, it } from 'vitest'
import { prefersMarkdown } from './markdown-body.ts'

describe('prefersMarkdown', () => {
  it.each([
    [undefined, false],
    ['', false],
    ['*/*', false],
    ['application/json', false],
    ['text/html', false],
    ['text/markdown', true],
    ['TEXT/MARKDOWN; charset=utf-8', true],
    ['text/*', true],
    ['text/markdown, application/json', false],
    ['text/markdown, application/json;q=0.9', true],
    ['text/markdown;q=0.5, application/json', false],
    ['text/markdown, */*;q=0.1', true],
    ['text/markdown;q=0', false],
    ['text/markdown;q=0, text/*', false],
    ['text/markdown;q=nonsense', false],
  ])('of %j is %s', (accept, expected) => {
    expect(prefersMarkdown(accept)).toBe(expected)
  })
})
