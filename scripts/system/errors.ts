/**
 * Why a command cannot go on, in words for the person who called it: what is wrong and what to do. Printed without a stack,
 * unlike a mistake of ours.
 */
export class ExplainedError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ExplainedError'
  }
}

/** A start that was asked to stop before it was done. Nothing went wrong. */
export class BrokenOffError extends Error {
  constructor() {
    super('The start was broken off.')
    this.name = 'BrokenOffError'
  }
}
