import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { cruise, type ICruiseResult } from 'dependency-cruiser'
import extractConfig from 'dependency-cruiser/config-utl/extract-depcruise-config'
import { finish, repositoryRoot } from './report.ts'

/** What one look at the imports found. */
export interface ImportReport {
  /** Every module of ours that was seen, relative to the folder that was searched. */
  modules: string[]
  violations: { rule: string; from: string; to: string; comment: string }[]
}

const CONFIG = fileURLToPath(new URL('../../.dependency-cruiser.cjs', import.meta.url))
const FOLDERS = ['apps', 'packages', 'scripts', 'tests', 'examples', 'bench', 'chaos']

/** Judges the imports under `root` by the rules of this repository. `root` is another folder only in the tests of the rules. */
export async function checkImports(root: string): Promise<ImportReport> {
  const { forbidden, options } = await extractConfig(CONFIG)
  const folders = FOLDERS.filter((folder) => existsSync(`${root}/${folder}`))
  const { output } = await cruise(folders, { ...options, ruleSet: { forbidden: forbidden ?? [] }, validate: true, baseDir: root })
  const result = output as ICruiseResult
  const comments = new Map((forbidden ?? []).map((rule) => [rule.name, rule.comment ?? '']))
  return {
    modules: result.modules.map((module) => module.source).filter((source) => FOLDERS.includes(source.split('/')[0] ?? '') && /\.(ts|mjs)$/.test(source)),
    violations: result.summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to, comment: comments.get(rule.name) ?? '' })),
  }
}

/** The names of all rules, so that a test can prove each. */
export async function importRuleNames(): Promise<string[]> {
  const { forbidden } = await extractConfig(CONFIG)
  return (forbidden ?? []).map((rule) => rule.name ?? '')
}

/**
 * The folders of apps and packages of which not one module was seen. dependency-cruiser sees nothing at all, and says that all is
 * well, when it does not support the installed TypeScript; so silence has to be proven.
 */
export async function unseenWorkspaces(root: string, modules: string[]): Promise<string[]> {
  const workspaces: string[] = []
  for (const parent of ['apps', 'packages']) {
    for (const entry of await readdir(`${root}/${parent}`, { withFileTypes: true })) {
      if (entry.isDirectory() && existsSync(`${root}/${parent}/${entry.name}/package.json`)) workspaces.push(`${parent}/${entry.name}`)
    }
  }
  return workspaces.filter((workspace) => !['src', 'bin'].some((folder) => modules.some((module) => module.startsWith(`${workspace}/${folder}/`))))
}

if (import.meta.main) {
  const { modules, violations } = await checkImports(repositoryRoot)
  const problems = violations.map(({ rule, from, to, comment }) => `${rule}: ${from} → ${to}${comment === '' ? '' : `\n    ${comment}`}`)
  for (const workspace of await unseenWorkspaces(repositoryRoot, modules)) problems.push(`no module seen in ${workspace}`)
  finish(problems, `${modules.length} modules`)
}
