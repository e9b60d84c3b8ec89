/** Headers of answers. Endpoints name them; each is described here, once. */
export const ANSWER_HEADERS = {
  Location: { description: 'Path at which what was created can be read.', schema: { type: 'string' } },
  ETag: {
    description: 'Version of what is answered, for `If-Match` and `If-None-Match`.',
    schema: { type: 'string' },
  },
  Link: { description: 'With `rel="next"`: the URL of the next page. Absent on the last one.', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds after which a retry makes sense.', schema: { type: 'integer' } },
  'WWW-Authenticate': { description: 'With 401: how to authenticate.', schema: { type: 'string' } },
  'X-Request-Id': {
    description: 'The id of the request, also in the log: the one that the caller sent, or a new one.',
    schema: { type: 'string' },
  },
  RateLimit: { description: 'What is left of the rate limit, as `"default";r=49999;t=10`.', schema: { type: 'string' } },
  'RateLimit-Policy': { description: 'The rate limit, as `"default";q=50000;w=10`.', schema: { type: 'string' } },
} as const

export type AnswerHeader = keyof typeof ANSWER_HEADERS
