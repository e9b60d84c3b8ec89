import type { FastifyInstance, FastifyRequest } from 'fastify'
import { decodeBody, requireBodyType } from './json-body.ts'

/** A body of type `text/markdown`, as a class of its own so that it cannot be confused with a JSON string. */
export class MarkdownBody {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Reads Markdown bodies for endpoints that accept them. The schema of the endpoint validates the text. */
export function addMarkdownBody(app: FastifyInstance): void {
  app.addContentTypeParser('text/markdown', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    requireBodyType(request, 'text/markdown')
    return new MarkdownBody(decodeBody(request, body))
  })
}

/**
 * Whether an `Accept` header prefers `text/markdown` to JSON. JSON is the default: Markdown needs a higher weight, such as being the only type.
 */
export function prefersMarkdown(accept: string | undefined): boolean {
  if (accept === undefined) return false
  const ranges = accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return { type, weight: weight === undefined ? 1 : Number(weight.slice(2)) || 0 }
  })
  const weightOf = (...patterns: string[]): number => {
    for (const pattern of patterns) {
      const found = ranges.find(({ type }) => type === pattern)
      if (found !== undefined) return found.weight
    }
    return 0
  }
  return weightOf('text/markdown', 'text/*', '*/*') > weightOf('application/json', 'application/*', '*/*')
}
