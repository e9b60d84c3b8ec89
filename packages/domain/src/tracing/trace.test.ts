import { describe, expect, it } from 'vitest'
import { readTraceparent, traceIdOf } from './trace.ts'

const GOOD = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

describe('a traceparent', () => {
  it('is taken as it is, and names its trace', () => {
    expect(readTraceparent(GOOD)).toBe(GOOD)
    expect(traceIdOf(GOOD)).toBe('0af7651916cd43dd8448eb211c80319c')
  })

  it.each([undefined, '', ['a'], GOOD.toUpperCase(), GOOD.replace('00-', 'ff-'), `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, `${GOOD}-x`, GOOD.slice(1)])(
    'that is none is ignored: %j',
    (value) => {
      expect(readTraceparent(value)).toBeNull()
    },
  )
})
