import { Activity, ListTree, type LucideIcon, MessageCircleQuestion } from 'lucide-react'

export interface Destination {
  to: string
  label: string
  icon: LucideIcon
  group: 'Work' | 'Quality' | 'System'
}

/** Every screen, in the order of the side bar. The command palette lists the same. */
export const DESTINATIONS = [
  { to: '/', label: 'Now', icon: Activity, group: 'Work' },
  { to: '/questions', label: 'Questions', icon: MessageCircleQuestion, group: 'Work' },
  { to: '/subtasks', label: 'Subtasks', icon: ListTree, group: 'Work' },
] as const satisfies Destination[]
