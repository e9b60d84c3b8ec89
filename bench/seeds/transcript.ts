import { DEFAULT_PROJECT_ID } from '@muster/domain'
import type postgres from 'postgres'

/** Gives a subtask of today so many steps: what a run says, the tools that it calls, and what they answered. The server makes the rows itself. */
export async function seedTranscript(sql: postgres.Sql, subtaskId: string, count: number): Promise<void> {
  await sql`
    insert into steps (project_id, subtask_id, seq, attempt, kind, content, at)
    select ${DEFAULT_PROJECT_ID}::uuid, ${subtaskId}::uuid, n, 1,
      case n % 3 when 1 then 'message' when 2 then 'tool_call' else 'tool_result' end,
      case n % 3
        when 1 then to_jsonb('I look at part ' || n || ' of the module, since two of its callers rely on the order of what it returns.')
        when 2 then jsonb_build_object('id', 'call-' || n, 'name', 'read_file', 'input', jsonb_build_object('path', 'src/part-' || n || '.ts'))
        else jsonb_build_object('id', 'call-' || (n - 1), 'output', repeat('export const value = ' || n || E'\n', 12))
      end,
      created_at + n * interval '50 us'
    from subtasks, generate_series(1, ${count}) as n where id = ${subtaskId}`
  await sql`analyze steps`
}
