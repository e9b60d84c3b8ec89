CREATE TABLE "check_runs" (
	"project_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"batch_id" uuid NOT NULL,
	"task_id" uuid NOT NULL,
	"subtask_id" uuid,
	"evaluation_id" uuid,
	"criterion_id" text NOT NULL,
	"check_name" text NOT NULL,
	"place" uuid,
	"status" text DEFAULT 'pending' NOT NULL,
	"exit_code" integer,
	"reason" text,
	"output" text,
	"duration_ms" integer,
	"tries" smallint DEFAULT 0 NOT NULL,
	"worker_id" uuid,
	"lease_expires_at" timestamp (3) with time zone,
	"due_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"started_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "check_runs_status" CHECK (status in ('pending', 'running', 'met', 'unmet', 'could_not_run')),
	CONSTRAINT "check_runs_running" CHECK ((status = 'running') = (lease_expires_at is not null)),
	CONSTRAINT "check_runs_ended" CHECK ((status in ('pending', 'running')) = (ended_at is null))
);
--> statement-breakpoint
CREATE INDEX "check_runs_by_task" ON "check_runs" USING btree ("project_id","task_id","id");--> statement-breakpoint
CREATE INDEX "check_runs_by_batch" ON "check_runs" USING btree ("project_id","batch_id");--> statement-breakpoint
CREATE INDEX "check_runs_open" ON "check_runs" USING btree ("task_id","id") WHERE status in ('pending', 'running');--> statement-breakpoint
ALTER TABLE check_runs ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE check_runs FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY project ON check_runs TO muster_app USING (project_id = nullif(current_setting('muster.project_id', true), '')::uuid);
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE ON check_runs TO muster_app;
--> statement-breakpoint
-- Workers claim checks of all projects, and see nothing of what they print.
CREATE POLICY dispatch ON check_runs TO muster_dispatch USING (true);
--> statement-breakpoint
GRANT SELECT (project_id, id, task_id, check_name, place, status, tries, worker_id, lease_expires_at, due_at, created_at) ON check_runs TO muster_dispatch;
--> statement-breakpoint
GRANT UPDATE (status, tries, worker_id, lease_expires_at, due_at, started_at) ON check_runs TO muster_dispatch;
