/** The little a runner needs of a logger; pino's has it. */
export interface RunnerLog {
  debug(details: object, message: string): void
  warn(details: object, message: string): void
}
