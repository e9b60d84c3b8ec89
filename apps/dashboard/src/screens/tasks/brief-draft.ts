import type { BodyOf, Task } from '@muster/client'

/** A brief as a person edits it: one text a field. */
export interface BriefDraft {
  title: string
  instructions: string
  /** One a line. */
  criteria: string
  /** A JSON array. */
  outputs: string
  background: string
}

/** What a person has changed of a brief, so that the rest stays as others leave it, and the revision that they have seen. */
export interface StoredDraft {
  base: number
  fields: Partial<BriefDraft>
}

type Brief = Pick<BodyOf<'reviseTask'>, 'title' | 'instructions' | 'acceptance_criteria' | 'required_outputs' | 'background_context'>

/** Criteria of the brief itself; others come from its context. */
const criteriaOf = (task: Task) => task.acceptance_criteria.filter(({ source }) => source === 'acceptance')

export function draftOf(task: Task): BriefDraft {
  return {
    title: task.title,
    instructions: task.instructions,
    criteria: criteriaOf(task)
      .map(({ text }) => text)
      .join('\n'),
    outputs: JSON.stringify(task.required_outputs, null, 2),
    background: task.task_context?.background_context ?? '',
  }
}

/** The fields whose text differs from the brief. */
export function differing(brief: BriefDraft, fields: Partial<BriefDraft>): Partial<BriefDraft> {
  return Object.fromEntries(Object.entries(fields).filter(([name, text]) => text !== brief[name as keyof BriefDraft]))
}

/**
 * What a draft changes of a task. A criterion whose text is unchanged keeps its id and its check.
 *
 * @throws SyntaxError if the outputs are no JSON
 */
export function changesOf(task: Task, draft: BriefDraft): Brief {
  const before = draftOf(task)
  const known = new Map(criteriaOf(task).map(({ id, text }) => [text, id]))
  return {
    ...(draft.title === before.title ? {} : { title: draft.title }),
    ...(draft.instructions === before.instructions ? {} : { instructions: draft.instructions }),
    ...(draft.criteria === before.criteria
      ? {}
      : {
          acceptance_criteria: linesOf(draft.criteria).map((text) => {
            const id = known.get(text)
            return id === undefined ? text : { id, text }
          }),
        }),
    ...(draft.outputs === before.outputs ? {} : { required_outputs: readOutputs(draft.outputs) }),
    ...(draft.background === before.background ? {} : { background_context: draft.background }),
  }
}

/** The whole brief, for its validation. Outputs that are no JSON yet are left out. */
export function wholeOf(draft: BriefDraft): BodyOf<'validateTask'> {
  const brief = { title: draft.title, instructions: draft.instructions, acceptance_criteria: linesOf(draft.criteria) }
  try {
    return { ...brief, required_outputs: readOutputs(draft.outputs), ...(draft.background === '' ? {} : { background_context: draft.background }) }
  } catch {
    return brief
  }
}

export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function readOutputs(text: string): NonNullable<Brief['required_outputs']> {
  return JSON.parse(text.trim() === '' ? '[]' : text) as NonNullable<Brief['required_outputs']>
}
