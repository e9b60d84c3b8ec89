import { describe, expect, it } from 'vitest'
import { acceptsGzip } from './compression.ts'

describe('Accept-Encoding', () => {
  it.each([
    [undefined, false],
    ['', false],
    ['gzip', true],
    ['deflate, GZIP;q=0.5', true],
    ['gzip;q=0', false],
    ['br, *', true],
    ['*;q=0', false],
    ['gzip; q=0, *', false],
    ['identity', false],
  ])('%j: %s', (header, accepted) => {
    expect(acceptsGzip(header)).toBe(accepted)
  })
})
