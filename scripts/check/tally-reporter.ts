import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node'

/**
 * Ends a test run with one line that is true: `N passed, N failed`, and `, N skipped` where there are any. It counts tests. A file
 * that cannot be loaded, a hook of a file that fails, an error outside of any test, a run that was cut short and a run without tests
 * count as a failure each: none of them may look like success.
 */
export class TallyReporter implements Reporter {
  #passed = 0
  // Until the run reports its end it has failed: a set-up that throws never gets that far.
  #failed = 1
  #skipped = 0

  onInit(): void {
    // At exit, because the tear-down of the run may still print after the reporters have ended.
    process.once('exit', () => {
      if (this.#failed > 0 && !process.exitCode) process.exitCode = 1
      process.stdout.write(`${this.line()}\n`)
    })
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[], reason: TestRunEndReason): void {
    this.#passed = 0
    this.#failed = unhandledErrors.length
    this.#skipped = 0
    for (const module of modules) this.#count(module)
    if (this.#passed + this.#failed === 0 || (reason === 'interrupted' && this.#failed === 0)) this.#failed += 1
  }

  /** Whatever else has failed, a module that did not pass is one failure at least. */
  #count(module: TestModule): void {
    let failed = 0
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      if (state === 'passed') this.#passed += 1
      else if (state === 'skipped') this.#skipped += 1
      else failed += 1
    }
    // A file that cannot be loaded, and hooks that fail: the tests below them count as skipped only.
    for (const suite of [module, ...module.children.allSuites()]) if (suite.errors().length > 0) failed += 1
    if (failed === 0 && !['passed', 'skipped'].includes(module.state())) failed = 1
    this.#failed += failed
  }

  /** The line as it stands. */
  line(): string {
    return `${this.#passed} passed, ${this.#failed} failed${this.#skipped > 0 ? `, ${this.#skipped} skipped` : ''}`
  }
}
