import { describe, expect, it } from 'vitest'
import { limited, OUT_OF_TIME, processorMs } from './limited.ts'

/** As a process that is stopped, or has to wait for a processor. */
function standStill(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

describe('work that is limited', () => {
  it('answers what it answers', () => {
    expect(limited(1_000, () => 42)).toBe(42)
  })

  it('is ended when it takes the processor for too long, at the first try that has one', () => {
    const beganMs: number[] = []
    const endless = () => {
      beganMs.push(processorMs())
      for (;;) Math.sqrt(beganMs.length)
    }
    expect(limited(50, endless)).toBe(OUT_OF_TIME)
    // On a machine that is busy, a try may have none.
    const hadMs = beganMs.slice(1).map((ms, nth) => ms - (beganMs[nth] as number))
    expect(hadMs.filter((ms) => ms >= 25)).toEqual([])
  })

  it('is begun anew when it had no processor', () => {
    let tries = 0
    const starved = () => {
      tries += 1
      if (tries < 3) standStill(200)
      return tries
    }
    expect(limited(50, starved)).toBe(3)
  })

  it('is given up when it never has one', () => {
    let tries = 0
    const starved = () => {
      tries += 1
      standStill(100)
    }
    expect(limited(20, starved)).toBe(OUT_OF_TIME)
    expect(tries).toBe(5)
  })

  it('throws what it throws', () => {
    expect(() =>
      limited(1_000, () => {
        throw new Error('own')
      }),
    ).toThrow('own')
  })
})
