import type { BodyOf, Question } from '@muster/client'

export type NewAnswer = BodyOf<'answerQuestion'>

/** What each way to answer a question takes. */
export interface AnswerProps {
  question: Question
  onSend: (answer: NewAnswer) => void
}
