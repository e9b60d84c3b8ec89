/**
 * Why a command cannot continue, for its user: what is wrong, and what to do. Printed without a stack, unlike a defect.
 */
export class ExplainedError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ExplainedError'
  }
}

/** A start that was asked to stop before it was complete. It is no failure. */
export class BrokenOffError extends Error {
  constructor() {
    super('The start was broken off.')
    this.name = 'BrokenOffError'
  }
}
