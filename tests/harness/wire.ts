/** What tests read of answers. That the answers are as `openapi.yaml` says is checked at every call; these only name fields. */

export interface NewSubtask {
  task: string
  agent_id?: string
  priority?: 'low' | 'normal' | 'high' | 'urgent'
  timeout_seconds?: number
  parent_session_id?: string
  runner?: string
  required_outputs?: string[]
  max_attempts?: number
  model?: string | null
  budget?: { max_steps?: number; max_tokens?: number; max_cost_usd?: number }
  metadata?: Record<string, unknown>
}

export interface Subtask {
  id: string
  task: string
  agent_id: string
  status: 'pending' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled'
  final_outcome: string | null
  result: string | null
  result_truncated: boolean
  summary: string | null
  error: string | null
  outputs: Record<string, unknown> | null
  worker_id: string | null
  attempt: number
  failures: number
  started_at: string | null
  completed_at: string | null
  duration_ms: number | null
  lost_ms: number
  waiting_for: string | null
  waited_ms: number
  cancel_requested_at: string | null
  task_revision: number | null
  revision_of: string | null
  revision_round: number
  max_revisions: number
  usage: { input_tokens: number; output_tokens: number; cost_usd: number; steps: number; tool_calls: number }
}

export interface Update {
  update_id: string
  content: string
  status: 'queued' | 'delivered' | 'acknowledged' | 'superseded' | 'expired'
  delivered_to: string | null
}

export interface NewTask {
  title: string
  instructions: string
  acceptance_criteria?: string[]
  required_outputs?: (string | { name: string; schema?: object })[]
  client_cwd?: string | null
}

export interface Task {
  id: string
  status: string
  revision: number
  instructions: string
  subagent_session_id: string | null
  completion_outputs: Record<string, unknown> | null
}

export interface Injection {
  claim_id: string | null
  text: string
  items: { kind: 'assignment' | 'update' | 'tsg_notice' | 'inbox'; id: string; update_id: string | null; task_id: string | null; text: string }[]
}

export interface InboxItem {
  inbox_id: string
  subtask_id: string
  status: string
  final_outcome: string
  result: string | null
}

export interface ClaimedSubtask {
  subtask: Subtask
  session_id: string
  credential: string
  lease: { token: string; attempt: number; expires_at: string }
  brief: { text: string; task: string; feedback: string | null }
}

export interface MusterEvent {
  id: number
  type: string
  subject: { kind: string; id: string }
  data: Record<string, unknown>
  actor: { kind: string; id: string }
}

export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  instance: string
  code: string
  request_id: string
  retryable: boolean
  errors?: { pointer: string; field: string; reason: string; value?: unknown }[]
}
