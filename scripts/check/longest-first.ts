import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that take half a minute or more, and that others of their project are larger than. A fresh clone knows no times, and begins with the largest files: one
 * of these would come late and run on alone, while a core has nothing to do.
 */
export const LONG = [
  'tests/dashboard.test.ts',
  'tests/screens.test.ts',
  'tests/commands.test.ts',
  'tests/cli.test.ts',
  'scripts/start.test.ts',
  'tests/mcp-python.test.ts',
  'tests/schedules.test.ts',
  'tests/reference.test.ts',
  'tests/readme.test.ts',
  'tests/judge.test.ts',
  'tests/database.test.ts',
  'packages/runners/src/claude-code/runner.test.ts',
  'packages/db/src/query-plans.test.ts',
  'apps/worker/src/chatting.test.ts',
  'packages/usecases/src/retention/apply-retention.test.ts',
]

/** The files of each project in the usual order, after those that take longest: also where times of earlier runs are known, because these differ little from one machine to another. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files)
    const projects = [...new Set(usual.map(({ project }) => project))]
    const rank = ({ project, moduleId }: TestSpecification) => {
      const place = LONG.indexOf(relative(project.config.root, moduleId))
      return [projects.indexOf(project), place < 0 ? LONG.length : place] as const
    }
    return usual
      .map((file) => ({ file, rank: rank(file) }))
      .sort((one, other) => one.rank[0] - other.rank[0] || one.rank[1] - other.rank[1])
      .map(({ file }) => file)
  }
}
