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
