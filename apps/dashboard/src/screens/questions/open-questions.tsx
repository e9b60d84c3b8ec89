import { useQuery } from '@tanstack/react-query'
import { Panel } from '../../design/panel.tsx'
import { AnswerForm } from './answer-form.tsx'
import { openQuestionsQuery } from './queries.ts'

/** The open questions of a subtask or a task, to be answered in place. Nothing if there are none. */
export function OpenQuestions({ subtaskId, taskId }: { subtaskId?: string; taskId?: string }) {
  const { data } = useQuery(openQuestionsQuery)
  const asked = data?.filter(({ subtask_id, task_id }) => (subtaskId === undefined ? task_id === taskId : subtask_id === subtaskId)) ?? []
  return asked.map((question) => (
    <Panel key={question.id} title={question.kind === 'approval' ? 'Waits for approval' : 'Asks'}>
      <AnswerForm question={question} />
    </Panel>
  ))
}
