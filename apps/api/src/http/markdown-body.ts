import type { FastifyInstance, FastifyRequest } from 'fastify'
import { decodeBody, requireBodyType } from './json-body.ts'

/** A body that came as `text/markdown`, so that nobody takes it for a JSON string. */
export class MarkdownBody {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Reads Markdown bodies, where an endpoint takes one. What the text has to say is for the endpoint's schema. */
export function addMarkdownBody(app: FastifyInstance): void {
  app.addContentTypeParser('text/markdown', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    requireBodyType(request, 'text/markdown')
    return new MarkdownBody(decodeBody(request, body))
  })
}
