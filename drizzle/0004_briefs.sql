CREATE TABLE "assignments" (
	"project_id" uuid NOT NULL,
	"task_id" uuid NOT NULL,
	"session_id" text NOT NULL,
	"assigned_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"introduced_at" timestamp (3) with time zone,
	"delivered_seq" integer DEFAULT 0 NOT NULL,
	"delivered_revision" integer,
	"has_news" boolean DEFAULT true NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"credential_hash" "bytea",
	CONSTRAINT "assignments_task_id_session_id_pk" PRIMARY KEY("task_id","session_id")
);
--> statement-breakpoint
CREATE TABLE "injection_claims" (
	"project_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"held" jsonb NOT NULL,
	"lease_expires_at" timestamp (3) with time zone NOT NULL,
	"acknowledged_at" timestamp (3) with time zone,
	"replaced_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "session_messages" (
	"project_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"role" text NOT NULL,
	"content" text,
	"body_id" uuid,
	"model" text,
	"task_id" uuid,
	"agent_name" text,
	"usage" jsonb,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"eval_score" double precision,
	"eval_summary" text,
	"quality_flag" text,
	"training_candidate" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "task_dependencies" (
	"project_id" uuid NOT NULL,
	"task_id" uuid NOT NULL,
	"depends_on_id" uuid NOT NULL,
	CONSTRAINT "task_dependencies_task_id_depends_on_id_pk" PRIMARY KEY("task_id","depends_on_id")
);
--> statement-breakpoint
CREATE TABLE "task_revisions" (
	"project_id" uuid NOT NULL,
	"task_id" uuid NOT NULL,
	"revision" integer NOT NULL,
	"fields" text[] NOT NULL,
	"diff" jsonb,
	"criteria" jsonb NOT NULL,
	"required_outputs" jsonb NOT NULL,
	"author_kind" text NOT NULL,
	"author_id" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	CONSTRAINT "task_revisions_task_id_revision_pk" PRIMARY KEY("task_id","revision")
);
--> statement-breakpoint
CREATE TABLE "task_tsgs" (
	"project_id" uuid NOT NULL,
	"task_id" uuid NOT NULL,
	"tsg_id" text NOT NULL,
	"linked_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	CONSTRAINT "task_tsgs_task_id_tsg_id_pk" PRIMARY KEY("task_id","tsg_id")
);
--> statement-breakpoint
CREATE TABLE "tasks" (
	"project_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"title" text NOT NULL,
	"instructions" text NOT NULL,
	"description" text,
	"status" text NOT NULL,
	"revision" integer DEFAULT 1 NOT NULL,
	"priority" text DEFAULT 'P2' NOT NULL,
	"criteria" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"required_outputs" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"context" jsonb,
	"warnings" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"completion_outputs" jsonb,
	"summary" text,
	"parent_session_id" text,
	"subagent_session_id" text,
	"subtask_id" uuid,
	"review" text DEFAULT 'none' NOT NULL,
	"client_cwd" text,
	"workspace" text,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"last_error" text,
	"update_seq" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"completed_at" timestamp (3) with time zone,
	"search" "tsvector" GENERATED ALWAYS AS (to_tsvector('simple', title || ' ' || left(coalesce(description, ''), 1000) || ' ' || left(instructions, 20000))) STORED,
	CONSTRAINT "tasks_status" CHECK (status in ('blocked', 'pending', 'assigned', 'in_progress', 'in_review', 'revision_requested', 'completed', 'failed', 'cancelled')),
	CONSTRAINT "tasks_priority" CHECK (priority in ('P0', 'P1', 'P2', 'P3')),
	CONSTRAINT "tasks_review" CHECK (review in ('none', 'auto', 'manual')),
	CONSTRAINT "tasks_terminal" CHECK ((status in ('completed', 'failed', 'cancelled')) = (completed_at is not null))
);
--> statement-breakpoint
CREATE TABLE "tsg_notices" (
	"project_id" uuid NOT NULL,
	"session_id" text NOT NULL,
	"tsg_id" text NOT NULL,
	"matched_pattern" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"delivered_at" timestamp (3) with time zone,
	CONSTRAINT "tsg_notices_project_id_session_id_tsg_id_pk" PRIMARY KEY("project_id","session_id","tsg_id")
);
--> statement-breakpoint
CREATE TABLE "tsg_uses" (
	"project_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"tsg_id" text NOT NULL,
	"kind" text NOT NULL,
	"session_id" text,
	"task_id" uuid,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	CONSTRAINT "tsg_uses_kind" CHECK (kind in ('surfaced', 'read', 'resolved', 'unresolved'))
);
--> statement-breakpoint
CREATE TABLE "tsgs" (
	"project_id" uuid NOT NULL,
	"tsg_id" text NOT NULL,
	"title" text NOT NULL,
	"content" text NOT NULL,
	"patterns" text[] NOT NULL,
	"match" text DEFAULT 'substring' NOT NULL,
	"technologies" text[] DEFAULT '{}' NOT NULL,
	"severity" text DEFAULT 'medium' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	CONSTRAINT "tsgs_project_id_tsg_id_pk" PRIMARY KEY("project_id","tsg_id"),
	CONSTRAINT "tsgs_match" CHECK (match in ('substring', 'regex')),
	CONSTRAINT "tsgs_severity" CHECK (severity in ('low', 'medium', 'high', 'critical'))
);
--> statement-breakpoint
CREATE INDEX "assignments_by_session" ON "assignments" USING btree ("project_id","session_id","assigned_at","task_id") WHERE ended_at is null;--> statement-breakpoint
CREATE INDEX "assignments_news" ON "assignments" USING btree ("project_id","session_id") WHERE has_news and ended_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "injection_claims_open" ON "injection_claims" USING btree ("project_id","session_id") WHERE acknowledged_at is null and replaced_at is null;--> statement-breakpoint
CREATE INDEX "session_messages_by_session" ON "session_messages" USING btree ("project_id","session_id","id");--> statement-breakpoint
CREATE INDEX "session_messages_by_task" ON "session_messages" USING btree ("project_id","task_id","id") WHERE task_id is not null;--> statement-breakpoint
CREATE INDEX "task_dependencies_by_dependency" ON "task_dependencies" USING btree ("project_id","depends_on_id");--> statement-breakpoint
CREATE INDEX "task_tsgs_by_tsg" ON "task_tsgs" USING btree ("project_id","tsg_id");--> statement-breakpoint
CREATE INDEX "tasks_by_id" ON "tasks" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "tasks_by_status" ON "tasks" USING btree ("project_id","status","id");--> statement-breakpoint
CREATE INDEX "tasks_by_priority" ON "tasks" USING btree ("project_id","priority","id");--> statement-breakpoint
CREATE INDEX "tasks_by_parent" ON "tasks" USING btree ("project_id","parent_session_id","id") WHERE parent_session_id is not null;--> statement-breakpoint
CREATE INDEX "tasks_by_holder" ON "tasks" USING btree ("project_id","subagent_session_id","id") WHERE subagent_session_id is not null;--> statement-breakpoint
CREATE INDEX "tasks_search" ON "tasks" USING gin ("search");--> statement-breakpoint
CREATE INDEX "tsg_notices_waiting" ON "tsg_notices" USING btree ("project_id","session_id","created_at") WHERE delivered_at is null;--> statement-breakpoint
CREATE INDEX "tsg_uses_by_tsg" ON "tsg_uses" USING btree ("project_id","tsg_id","kind");--> statement-breakpoint
CREATE INDEX "tsgs_by_update" ON "tsgs" USING btree ("project_id","updated_at");