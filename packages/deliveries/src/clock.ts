/** The real time, which receivers compare with their own: a signature is of the time when it is sent. */
export const now = (): Date => new Date()
