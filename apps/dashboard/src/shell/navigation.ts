import {
  Activity,
  BookOpen,
  Bot,
  Brain,
  CalendarClock,
  ClipboardCheck,
  Coins,
  FileText,
  ListTree,
  type LucideIcon,
  MessageCircleQuestion,
  Radio,
  ScrollText,
  Send,
  Server,
  Settings2,
  Webhook,
} from 'lucide-react'

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
  { to: '/tasks', label: 'Tasks', icon: FileText, group: 'Work' },
  { to: '/schedules', label: 'Schedules', icon: CalendarClock, group: 'Work' },
  { to: '/evaluations', label: 'Evaluations', icon: ClipboardCheck, group: 'Quality' },
  { to: '/subagents', label: 'Sub-agents', icon: Bot, group: 'Quality' },
  { to: '/guides', label: 'Guides', icon: BookOpen, group: 'Quality' },
  { to: '/memory', label: 'Memory', icon: Brain, group: 'Quality' },
  { to: '/events', label: 'Events', icon: Radio, group: 'System' },
  { to: '/audit', label: 'Audit', icon: ScrollText, group: 'System' },
  { to: '/webhooks', label: 'Webhooks', icon: Webhook, group: 'System' },
  { to: '/deliveries', label: 'Deliveries', icon: Send, group: 'System' },
  { to: '/usage', label: 'Usage', icon: Coins, group: 'System' },
  { to: '/workers', label: 'Workers', icon: Server, group: 'System' },
  { to: '/settings', label: 'Settings', icon: Settings2, group: 'System' },
] as const satisfies Destination[]
