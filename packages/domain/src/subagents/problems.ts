import type { SubagentProblem } from './subagent.ts'

/** More problems do not help an author, and a text may have a million. */
const PROBLEMS_MAX = 50

/** Collects what is wrong with a definition while it is read. */
export class SubagentProblems {
  readonly #errors: SubagentProblem[] = []
  readonly #warnings: SubagentProblem[] = []

  /** `pointer` is a field of the definition as the API names it; '' is the whole of it. */
  error(pointer: string, line: number, reason: string): void {
    this.#add(this.#errors, 'error', pointer, line, reason)
  }

  warn(pointer: string, line: number, reason: string): void {
    this.#add(this.#warnings, 'warning', pointer, line, reason)
  }

  get hasErrors(): boolean {
    return this.#errors.length > 0
  }

  all(): SubagentProblem[] {
    return [...this.#errors, ...this.#warnings].sort((left, right) => left.line - right.line)
  }

  #add(list: SubagentProblem[], severity: SubagentProblem['severity'], pointer: string, line: number, reason: string): void {
    if (list.length >= PROBLEMS_MAX) return
    list.push({ pointer, field: pointer === '' ? 'definition' : pointer.slice(1).replaceAll('/', '.'), reason, line, severity })
  }
}
