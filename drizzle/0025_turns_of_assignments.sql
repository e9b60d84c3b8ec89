ALTER TABLE "assignments" ADD COLUMN "turn" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "assignments" ADD COLUMN "briefed_seq" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- What runs that go on were told before their newest attempt is part of its brief.
UPDATE assignments a SET briefed_seq = coalesce((
  SELECT max(u.seq) FROM updates u WHERE u.task_id = a.task_id AND u.delivered_to = a.session_id AND u.delivered_at < s.attempt_started_at
), 0)
FROM subtasks s
WHERE a.session_id = 'subtask-' || s.id AND s.status = 'running' AND a.ended_at IS NULL;
