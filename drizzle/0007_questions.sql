CREATE TABLE "questions" (
	"project_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"subtask_id" uuid,
	"task_id" uuid,
	"session_id" text,
	"asked_by_session" text,
	"prompt" text NOT NULL,
	"options" jsonb,
	"schema" jsonb,
	"default_answer" jsonb,
	"revision" integer,
	"arguments" jsonb,
	"arguments_digest" text,
	"status" text DEFAULT 'open' NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"on_expiry" text NOT NULL,
	"answer" jsonb,
	"answered_by_kind" text,
	"answered_by_id" text,
	"update_id" uuid,
	"asked_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"answered_at" timestamp (3) with time zone,
	CONSTRAINT "questions_kind" CHECK (kind in ('question', 'approval')),
	CONSTRAINT "questions_status" CHECK (status in ('open', 'answered', 'expired', 'withdrawn')),
	CONSTRAINT "questions_on_expiry" CHECK (on_expiry in ('default', 'continue', 'fail')),
	CONSTRAINT "questions_subject" CHECK ((subtask_id is null) <> (task_id is null)),
	CONSTRAINT "questions_answer" CHECK (status <> 'answered' or answer is not null and answered_by_kind is not null and answered_at is not null)
);
--> statement-breakpoint
ALTER TABLE "inbox" DROP CONSTRAINT "inbox_subject";--> statement-breakpoint
ALTER TABLE "inbox" ADD COLUMN "question_id" uuid;--> statement-breakpoint
CREATE INDEX "questions_list" ON "questions" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "questions_by_status" ON "questions" USING btree ("project_id","status","id");--> statement-breakpoint
CREATE INDEX "questions_by_session" ON "questions" USING btree ("project_id","session_id","id");--> statement-breakpoint
CREATE INDEX "questions_by_asker" ON "questions" USING btree ("project_id","asked_by_session","id");--> statement-breakpoint
CREATE INDEX "questions_by_task" ON "questions" USING btree ("project_id","task_id","id") WHERE task_id is not null;--> statement-breakpoint
CREATE INDEX "questions_open_of_subtask" ON "questions" USING btree ("project_id","subtask_id") WHERE status = 'open' and subtask_id is not null;--> statement-breakpoint
CREATE INDEX "questions_due" ON "questions" USING btree ("expires_at") WHERE status = 'open';--> statement-breakpoint
ALTER TABLE "inbox" ADD CONSTRAINT "inbox_subject" CHECK (num_nonnulls(subtask_id, task_id, question_id) = 1 and (task_id is null) = (task_status is null));--> statement-breakpoint
ALTER TABLE questions ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE questions FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY project ON questions TO muster_app USING (project_id = nullif(current_setting('muster.project_id', true), '')::uuid);
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE ON questions TO muster_app;
--> statement-breakpoint
-- Expiry looks across projects for what is due; the change itself is made within the project.
CREATE POLICY dispatch ON questions FOR SELECT TO muster_dispatch USING (true);
--> statement-breakpoint
GRANT SELECT ON questions TO muster_dispatch;
