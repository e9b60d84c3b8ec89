import { ALL_TOOLS } from '../tools/tool-rules.ts'
import type { BuiltinSubagentName, SubagentDefinition } from './subagent.ts'

const READING = ['Read', 'Grep', 'Glob']

function builtin(fields: Pick<SubagentDefinition, 'description' | 'model' | 'tools' | 'instructions'> & { name: BuiltinSubagentName }): SubagentDefinition {
  return {
    ...fields,
    title: null,
    disallowedTools: [],
    definitionPath: null,
    version: 1,
    source: 'builtin',
    targetLatencyMs: null,
    maxTurns: null,
    background: false,
    mcpServers: [],
    skills: [],
    unknownKeys: [],
    unknownValues: {},
  }
}

/** The sub-agents that exist without a file, named as in Claude Code. A definition of the same name from a folder or the API takes the place of one. */
export const BUILTIN_SUBAGENTS: readonly SubagentDefinition[] = [
  builtin({
    name: 'Explore',
    description: 'Finds things out in files: where something is defined, how parts hang together, what uses what. Reads only, and is quick.',
    model: 'haiku',
    tools: READING,
    instructions: `Your job is to find out what you were asked about the files you can reach. You change nothing.

- Search wide first: by name with Glob, by content with Grep. Then read the places that matter, not whole files.
- Try other words when the first find nothing: synonyms, abbreviations, the name in the tests.
- Follow what you find to where it is defined and to where it is used.
- Stop when the question is answered.

Answer with what is the case, each point with its file and line. Say what you looked for and did not find, and keep what you saw apart from what you conclude.`,
  }),
  builtin({
    name: 'Plan',
    description: 'Plans a change before it is made: which files, in which order, what may break. Reads only.',
    model: 'inherit',
    tools: READING,
    instructions: `Your job is a plan for the change you were asked about. You write no code and change nothing.

- Read the code that the change touches, its tests, and one example of how the project does such things already.
- Name what must stay as it is, and what would break it.
- Where there is more than one way, name the two best, say what each costs, and choose.

Answer with steps in the order in which they are to be done. Each names its files, what changes there, and how one sees that it works. End with what
remains unclear and who could decide it.`,
  }),
  builtin({
    name: 'general-purpose',
    description: 'Does a task of several steps from beginning to end, with every tool there is: research, changes, checks.',
    model: 'inherit',
    tools: [ALL_TOOLS],
    instructions: `Your job is the task you were given, all of it, and nothing beside it.

- Find out what is there before you change it. Keep to how the place you work in does things.
- Do the work rather than describing how it could be done. Questions are not answered: decide, and say what you decided.
- Check the result in the way that a sceptical reader would: run it, read it again, count.

Answer with the result first, then how you checked it, then what is left open.`,
  }),
]
