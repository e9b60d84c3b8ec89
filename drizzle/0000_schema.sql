-- The tables, from `drizzle-kit generate` over packages/db/src/schema, with what drizzle-kit does not know: the schema muster_system, the clock that the
-- defaults read, and the partitions of events and steps. Columns stand in the order in which earlier versions added them, so that a database that
-- was taken over from one (drizzle/takeover) is the same as a new one.
CREATE SCHEMA muster_system;
--> statement-breakpoint
-- Empty in production. Tests that move time put one row here, and every process sees the moved clock at its next statement.
CREATE TABLE muster_system.clock (shift interval NOT NULL);
--> statement-breakpoint
-- The one clock of all SQL. now() stands still inside a transaction, so it is stale after a wait for a lock. Compare indexed
-- columns with (SELECT muster_now()), which is evaluated once.
CREATE FUNCTION muster_now() RETURNS timestamptz LANGUAGE sql VOLATILE PARALLEL SAFE AS
$$ SELECT clock_timestamp() + coalesce((SELECT shift FROM muster_system.clock LIMIT 1), interval '0') $$;
--> statement-breakpoint
CREATE SEQUENCE muster_system.event_seq;
--> statement-breakpoint
-- Processes that run subtasks. Each holds the session lock (7301, lock_key) for as long as its connection lives.
CREATE TABLE muster_system.workers (
  id text PRIMARY KEY,
  lock_key integer GENERATED ALWAYS AS IDENTITY UNIQUE,
  runners text[] NOT NULL,
  slots integer NOT NULL,
  started_at timestamptz NOT NULL DEFAULT muster_now(),
  seen_at timestamptz NOT NULL DEFAULT muster_now()
);
--> statement-breakpoint
-- One row: up to where the event log has been read into the search index of episodes, and how far older episodes have been renewed.
CREATE TABLE muster_system.memory (
  read_seq bigint NOT NULL,
  is_renewed boolean NOT NULL DEFAULT false,
  renewed_project uuid,
  renewed_subtask uuid
);
--> statement-breakpoint
-- One row. Processes write it to find out whether the server takes writes.
CREATE TABLE muster_system.write_check (at timestamptz NOT NULL);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"project_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"key_hash" "bytea" NOT NULL,
	"key_prefix" text NOT NULL,
	"scopes" text[] NOT NULL,
	"agent_id" text,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone
);
--> statement-breakpoint
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
	"turn" integer DEFAULT 1 NOT NULL,
	"briefed_seq" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "assignments_task_id_session_id_pk" PRIMARY KEY("task_id","session_id")
);
--> statement-breakpoint
CREATE TABLE "attempts" (
	"project_id" uuid NOT NULL,
	"subtask_id" uuid NOT NULL,
	"attempt" integer NOT NULL,
	"worker_id" text NOT NULL,
	"started_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"outcome" text,
	"error" text,
	"input_tokens" bigint DEFAULT 0 NOT NULL,
	"output_tokens" bigint DEFAULT 0 NOT NULL,
	"cost_micros" bigint DEFAULT 0 NOT NULL,
	"tool_calls" integer DEFAULT 0 NOT NULL,
	"lost_ms" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "attempts_subtask_id_attempt_pk" PRIMARY KEY("subtask_id","attempt")
);
--> statement-breakpoint
CREATE TABLE "bodies" (
	"project_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"sha256" "bytea" NOT NULL,
	"bytes" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "check_ins" (
	"project_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"task_id" uuid NOT NULL,
	"session_id" text,
	"revision" integer NOT NULL,
	"content" text NOT NULL,
	"verdicts" jsonb NOT NULL,
	"unmatched" jsonb NOT NULL,
	"next_steps" text[] NOT NULL,
	"author_kind" text NOT NULL,
	"author_id" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "episode_words" (
	"project_id" uuid NOT NULL,
	"subtask_id" uuid NOT NULL,
	"agent_id" text NOT NULL,
	"search" "tsvector" NOT NULL,
	CONSTRAINT "episode_words_project_id_subtask_id_pk" PRIMARY KEY("project_id","subtask_id")
);
--> statement-breakpoint
CREATE TABLE "evaluations" (
	"project_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"origin" text NOT NULL,
	"task_id" uuid,
	"subtask_id" uuid,
	"message_id" uuid,
	"session_id" text,
	"subagent_name" text,
	"score" double precision,
	"recommendation" text NOT NULL,
	"criteria_revision" integer,
	"detail" jsonb NOT NULL,
	"summary" text,
	"output" text,
	"output_body_id" uuid,
	"judge_of" uuid,
	"is_judged" boolean DEFAULT false NOT NULL,
	"judge" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	CONSTRAINT "evaluations_project_id_id_pk" PRIMARY KEY("project_id","id"),
	CONSTRAINT "evaluations_origin" CHECK (origin in ('request', 'message', 'subtask', 'completion')),
	CONSTRAINT "evaluations_recommendation" CHECK (recommendation in ('approve', 'review', 'request_revision')),
	CONSTRAINT "evaluations_judged" CHECK (is_judged = (judge_of is not null))
);
--> statement-breakpoint
CREATE TABLE "events" (
	"project_id" uuid NOT NULL,
	"seq" bigint PRIMARY KEY NOT NULL,
	"type" text NOT NULL,
	"subject_kind" text NOT NULL,
	"subject_id" uuid NOT NULL,
	"data" jsonb NOT NULL,
	"actor_kind" text NOT NULL,
	"actor_id" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"subject_name" text
) PARTITION BY RANGE ("seq");
--> statement-breakpoint
CREATE TABLE "facts" (
	"project_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"agent_id" text,
	"content" text NOT NULL,
	"tags" text[] NOT NULL,
	"source_subtask_id" uuid,
	"author_kind" text NOT NULL,
	"author_id" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"search" "tsvector" GENERATED ALWAYS AS (to_tsvector('simple', translate(left(content, 20000), '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', repeat(' ', 32)))) STORED,
	CONSTRAINT "facts_project_id_id_pk" PRIMARY KEY("project_id","id")
);
--> statement-breakpoint
CREATE TABLE "forgotten_episodes" (
	"project_id" uuid NOT NULL,
	"subtask_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	CONSTRAINT "forgotten_episodes_project_id_subtask_id_pk" PRIMARY KEY("project_id","subtask_id")
);
--> statement-breakpoint
CREATE TABLE "hook_reservations" (
	"project_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"subagent_type" text NOT NULL,
	"task_id" uuid NOT NULL,
	"bound_session_id" text,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"bound_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"project_id" uuid NOT NULL,
	"actor_id" text NOT NULL,
	"key" text NOT NULL,
	"request_hash" "bytea" NOT NULL,
	"status" smallint NOT NULL,
	"headers" jsonb NOT NULL,
	"body" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	CONSTRAINT "idempotency_keys_project_id_actor_id_key_pk" PRIMARY KEY("project_id","actor_id","key")
);
--> statement-breakpoint
CREATE TABLE "inbox" (
	"project_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"subtask_id" uuid,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"claim_id" uuid,
	"lease_expires_at" timestamp (3) with time zone,
	"delivered_at" timestamp (3) with time zone,
	"task_id" uuid,
	"task_status" text,
	CONSTRAINT "inbox_task_status" CHECK (task_status in ('in_review', 'completed', 'failed', 'cancelled')),
	CONSTRAINT "inbox_subject" CHECK ((subtask_id is null) = (task_id is not null) and (task_id is null) = (task_status is null))
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
CREATE TABLE "judgements" (
	"project_id" uuid NOT NULL,
	"evaluation_id" uuid NOT NULL,
	"model" text,
	"status" text DEFAULT 'pending' NOT NULL,
	"attempts" smallint DEFAULT 0 NOT NULL,
	"error" text,
	"input_tokens" bigint DEFAULT 0 NOT NULL,
	"output_tokens" bigint DEFAULT 0 NOT NULL,
	"cost_micros" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "judgements_project_id_evaluation_id_pk" PRIMARY KEY("project_id","evaluation_id"),
	CONSTRAINT "judgements_status" CHECK (status in ('pending', 'done', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "outbox" (
	"project_id" uuid NOT NULL,
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "outbox_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"type" text NOT NULL,
	"subject_kind" text NOT NULL,
	"subject_id" uuid NOT NULL,
	"data" jsonb NOT NULL,
	"actor_kind" text NOT NULL,
	"actor_id" text NOT NULL,
	"at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"subject_name" text
);
--> statement-breakpoint
CREATE TABLE "projects" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"settings" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"tsg_revision" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "quality_flags" (
	"project_id" uuid NOT NULL,
	"subject_kind" text NOT NULL,
	"subject_id" uuid NOT NULL,
	"evaluation_id" uuid,
	"quality" text NOT NULL,
	"tags" text[] NOT NULL,
	"training_candidate" boolean DEFAULT false NOT NULL,
	"author_kind" text NOT NULL,
	"author_id" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	CONSTRAINT "quality_flags_project_id_subject_kind_subject_id_pk" PRIMARY KEY("project_id","subject_kind","subject_id"),
	CONSTRAINT "quality_flags_subject" CHECK (subject_kind in ('task', 'subtask')),
	CONSTRAINT "quality_flags_quality" CHECK (quality in ('excellent', 'good', 'needs_work', 'bad'))
);
--> statement-breakpoint
CREATE TABLE "schedule_slots" (
	"project_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"schedule_id" uuid NOT NULL,
	"agent_id" text NOT NULL,
	"slot" timestamp (3) with time zone NOT NULL,
	"manual" boolean DEFAULT false NOT NULL,
	"outcome" text NOT NULL,
	"fired_at" timestamp (3) with time zone,
	"subtask_id" uuid,
	CONSTRAINT "schedule_slots_outcome" CHECK (outcome in ('waiting', 'fired', 'skipped_overlap', 'skipped_missed', 'skipped_paused')),
	CONSTRAINT "schedule_slots_fired" CHECK ((outcome = 'fired') = (subtask_id is not null) and (outcome = 'fired') = (fired_at is not null)),
	CONSTRAINT "schedule_slots_manual" CHECK (not manual or outcome = 'fired')
);
--> statement-breakpoint
CREATE TABLE "schedules" (
	"project_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"agent_id" text NOT NULL,
	"task" text NOT NULL,
	"phrase_kind" text NOT NULL,
	"phrase" text NOT NULL,
	"canonical" text NOT NULL,
	"reading" text NOT NULL,
	"timezone" text NOT NULL,
	"timing" jsonb NOT NULL,
	"warnings" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"state" text DEFAULT 'active' NOT NULL,
	"anchor_at" timestamp (3) with time zone NOT NULL,
	"next_fire_at" timestamp (3) with time zone,
	"fire_count" integer DEFAULT 0 NOT NULL,
	"max_fires" integer,
	"last_fired_at" timestamp (3) with time zone,
	"overlap" text NOT NULL,
	"missed" text NOT NULL,
	"grace_seconds" integer NOT NULL,
	"notify" boolean NOT NULL,
	"timeout_seconds" integer NOT NULL,
	"priority" text NOT NULL,
	"runner" text NOT NULL,
	"model" text,
	"budget_max_steps" integer NOT NULL,
	"budget_max_tokens" bigint,
	"budget_max_cost_micros" bigint,
	"parent_session_id" text,
	"created_by_session" text,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"subagent" text,
	CONSTRAINT "schedules_phrase_kind" CHECK (phrase_kind in ('when', 'every', 'cron')),
	CONSTRAINT "schedules_state" CHECK (state in ('active', 'paused', 'finished', 'deactivated')),
	CONSTRAINT "schedules_overlap" CHECK (overlap in ('skip', 'allow')),
	CONSTRAINT "schedules_missed" CHECK (missed in ('skip', 'run_once')),
	CONSTRAINT "schedules_priority" CHECK (priority in ('urgent', 'normal', 'low')),
	CONSTRAINT "schedules_ended" CHECK (next_fire_at is null or state in ('active', 'paused')),
	CONSTRAINT "schedules_max_fires" CHECK (max_fires is null or fire_count <= max_fires)
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
CREATE TABLE "steps" (
	"project_id" uuid NOT NULL,
	"subtask_id" uuid NOT NULL,
	"seq" integer NOT NULL,
	"attempt" integer NOT NULL,
	"kind" text NOT NULL,
	"content" jsonb,
	"at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	CONSTRAINT "steps_project_id_subtask_id_seq_at_pk" PRIMARY KEY("project_id","subtask_id","seq","at")
) PARTITION BY RANGE ("at");
--> statement-breakpoint
CREATE TABLE "subagent_versions" (
	"project_id" uuid NOT NULL,
	"name" text NOT NULL,
	"version" integer NOT NULL,
	"source" text NOT NULL,
	"definition" jsonb NOT NULL,
	"content_hash" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	CONSTRAINT "subagent_versions_project_id_name_version_pk" PRIMARY KEY("project_id","name","version"),
	CONSTRAINT "subagent_versions_source" CHECK (source in ('file', 'api', 'builtin'))
);
--> statement-breakpoint
CREATE TABLE "subagents" (
	"project_id" uuid NOT NULL,
	"name" text NOT NULL,
	"version" integer NOT NULL,
	"source" text NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"updated_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	CONSTRAINT "subagents_project_id_name_pk" PRIMARY KEY("project_id","name"),
	CONSTRAINT "subagents_source" CHECK (source in ('file', 'api', 'builtin'))
);
--> statement-breakpoint
CREATE TABLE "subtasks" (
	"project_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"agent_id" text NOT NULL,
	"parent_session_id" text,
	"task" text NOT NULL,
	"task_id" uuid,
	"task_revision" integer,
	"schedule_id" uuid,
	"subagent_name" text,
	"subagent_version" integer,
	"background" boolean DEFAULT true NOT NULL,
	"priority" text NOT NULL,
	"runner" text NOT NULL,
	"model" text,
	"timeout_seconds" integer NOT NULL,
	"max_attempts" smallint NOT NULL,
	"budget_max_steps" integer NOT NULL,
	"budget_max_tokens" bigint,
	"budget_max_cost_micros" bigint,
	"notify" boolean NOT NULL,
	"required_outputs" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"rank_at" timestamp (3) with time zone NOT NULL,
	"slot" boolean DEFAULT false NOT NULL,
	"slot_at" timestamp (3) with time zone,
	"job_id" uuid,
	"attempt" integer DEFAULT 0 NOT NULL,
	"failures" smallint DEFAULT 0 NOT NULL,
	"feedback" text,
	"worker_id" text,
	"lease_expires_at" timestamp (3) with time zone,
	"attempt_started_at" timestamp (3) with time zone,
	"lease_token_hash" "bytea",
	"credential_hash" "bytea",
	"cancel_requested_at" timestamp (3) with time zone,
	"step_seq" integer DEFAULT 0 NOT NULL,
	"update_seq" integer DEFAULT 0 NOT NULL,
	"final_outcome" text,
	"result" text,
	"result_body_id" uuid,
	"result_truncated" boolean DEFAULT false NOT NULL,
	"summary" text,
	"error" text,
	"outputs" jsonb,
	"input_tokens" bigint DEFAULT 0 NOT NULL,
	"output_tokens" bigint DEFAULT 0 NOT NULL,
	"cost_micros" bigint DEFAULT 0 NOT NULL,
	"tool_calls" integer DEFAULT 0 NOT NULL,
	"revision_of" uuid,
	"revision_round" smallint DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"started_at" timestamp (3) with time zone,
	"completed_at" timestamp (3) with time zone,
	"lease_seconds" integer,
	"resume_of" uuid,
	"max_revisions" smallint DEFAULT 0 NOT NULL,
	"lease_renewed_at" timestamp (3) with time zone,
	"lost_ms" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "subtasks_status" CHECK (status in ('pending', 'running', 'completed', 'failed', 'cancelled')),
	CONSTRAINT "subtasks_priority" CHECK (priority in ('urgent', 'normal', 'low')),
	CONSTRAINT "subtasks_final_outcome" CHECK (final_outcome in ('completed', 'cancelled', 'incomplete_blocked', 'validation_failed', 'timed_out', 'errored', 'worker_lost', 'budget_exceeded')),
	CONSTRAINT "subtasks_terminal" CHECK ((status in ('completed', 'failed', 'cancelled')) = (final_outcome is not null) and (final_outcome is null) = (completed_at is null)),
	CONSTRAINT "subtasks_slot" CHECK ((not slot or status in ('pending', 'running')) and (slot or status <> 'running') and slot = (job_id is not null))
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
	"next_steps" text[] DEFAULT '{}' NOT NULL,
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
CREATE TABLE "updates" (
	"project_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"subtask_id" uuid,
	"task_id" uuid,
	"seq" integer NOT NULL,
	"update_type" text NOT NULL,
	"fields" text[] DEFAULT '{}' NOT NULL,
	"content" text NOT NULL,
	"diff" jsonb,
	"revision" integer,
	"sender_kind" text NOT NULL,
	"sender_id" text NOT NULL,
	"delivery" text DEFAULT 'next_step' NOT NULL,
	"status" text DEFAULT 'queued' NOT NULL,
	"delivered_to" text,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"delivered_at" timestamp (3) with time zone,
	"acknowledged_at" timestamp (3) with time zone,
	"sender_name" text,
	CONSTRAINT "updates_status" CHECK (status in ('queued', 'delivered', 'acknowledged', 'superseded', 'expired')),
	CONSTRAINT "updates_target" CHECK ((subtask_id is null) <> (task_id is null))
);
--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_hash" ON "api_keys" USING btree ("key_hash");--> statement-breakpoint
CREATE INDEX "api_keys_project" ON "api_keys" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "assignments_by_session" ON "assignments" USING btree ("project_id","session_id","assigned_at","task_id") WHERE ended_at is null;--> statement-breakpoint
CREATE INDEX "assignments_news" ON "assignments" USING btree ("project_id","session_id") WHERE has_news and ended_at is null;--> statement-breakpoint
CREATE INDEX "check_ins_by_task" ON "check_ins" USING btree ("project_id","task_id","id");--> statement-breakpoint
CREATE INDEX "episode_words_search" ON "episode_words" USING gin ("search") WITH (gin_pending_list_limit=1024);--> statement-breakpoint
CREATE UNIQUE INDEX "evaluations_by_subtask" ON "evaluations" USING btree ("project_id","subtask_id","is_judged") WHERE subtask_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "evaluations_by_judged" ON "evaluations" USING btree ("project_id","judge_of") WHERE judge_of is not null;--> statement-breakpoint
CREATE INDEX "evaluations_by_task" ON "evaluations" USING btree ("project_id","task_id","id") WHERE task_id is not null;--> statement-breakpoint
CREATE INDEX "evaluations_by_time" ON "evaluations" USING brin ("created_at");--> statement-breakpoint
CREATE INDEX "events_by_project" ON "events" USING btree ("project_id","seq");--> statement-breakpoint
CREATE INDEX "events_by_subject" ON "events" USING btree ("project_id","subject_id","seq");--> statement-breakpoint
CREATE INDEX "facts_search" ON "facts" USING gin ("search");--> statement-breakpoint
CREATE INDEX "hook_reservations_waiting" ON "hook_reservations" USING btree ("project_id","session_id","subagent_type","id") WHERE bound_session_id is null;--> statement-breakpoint
CREATE INDEX "idempotency_keys_age" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "inbox_subtask" ON "inbox" USING btree ("subtask_id");--> statement-breakpoint
CREATE INDEX "inbox_waiting" ON "inbox" USING btree ("project_id","session_id","id") WHERE delivered_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "inbox_task_end" ON "inbox" USING btree ("task_id") WHERE task_status in ('completed', 'failed', 'cancelled');--> statement-breakpoint
CREATE UNIQUE INDEX "injection_claims_open" ON "injection_claims" USING btree ("project_id","session_id") WHERE acknowledged_at is null and replaced_at is null;--> statement-breakpoint
CREATE INDEX "judgements_waiting" ON "judgements" USING btree ("project_id","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "schedule_slots_once" ON "schedule_slots" USING btree ("schedule_id","slot") WHERE not manual;--> statement-breakpoint
CREATE INDEX "schedule_slots_by_schedule" ON "schedule_slots" USING btree ("project_id","schedule_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "schedule_slots_waiting" ON "schedule_slots" USING btree ("schedule_id") WHERE outcome = 'waiting';--> statement-breakpoint
CREATE INDEX "schedule_slots_waiting_lanes" ON "schedule_slots" USING btree ("project_id","agent_id","slot") WHERE outcome = 'waiting';--> statement-breakpoint
CREATE INDEX "schedules_by_state" ON "schedules" USING btree ("project_id","state","id");--> statement-breakpoint
CREATE INDEX "schedules_due" ON "schedules" USING btree ("next_fire_at") WHERE next_fire_at is not null;--> statement-breakpoint
CREATE INDEX "schedules_by_agent" ON "schedules" USING btree ("project_id","agent_id","state","id");--> statement-breakpoint
CREATE INDEX "session_messages_by_session" ON "session_messages" USING btree ("project_id","session_id","id");--> statement-breakpoint
CREATE INDEX "session_messages_by_task" ON "session_messages" USING btree ("project_id","task_id","id") WHERE task_id is not null;--> statement-breakpoint
CREATE INDEX "subtasks_by_status" ON "subtasks" USING btree ("project_id","status","id");--> statement-breakpoint
CREATE INDEX "subtasks_by_session" ON "subtasks" USING btree ("project_id","parent_session_id","id") WHERE parent_session_id is not null;--> statement-breakpoint
CREATE INDEX "subtasks_by_task" ON "subtasks" USING btree ("project_id","task_id","id") WHERE task_id is not null;--> statement-breakpoint
CREATE INDEX "subtasks_by_schedule" ON "subtasks" USING btree ("project_id","schedule_id","id") WHERE schedule_id is not null;--> statement-breakpoint
CREATE INDEX "subtasks_waiting" ON "subtasks" USING btree ("project_id","agent_id","rank_at","id") WHERE status = 'pending' and not slot;--> statement-breakpoint
CREATE INDEX "subtasks_slots" ON "subtasks" USING btree ("project_id","agent_id") WHERE slot;--> statement-breakpoint
CREATE INDEX "subtasks_leases" ON "subtasks" USING btree ("lease_expires_at") WHERE status = 'running';--> statement-breakpoint
CREATE INDEX "subtasks_unclaimed" ON "subtasks" USING btree ("slot_at") WHERE status = 'pending' and slot;--> statement-breakpoint
CREATE INDEX "subtasks_scheduled_live" ON "subtasks" USING btree ("schedule_id") WHERE schedule_id is not null and status in ('pending', 'running');--> statement-breakpoint
CREATE INDEX "subtasks_waiting_runners" ON "subtasks" USING btree ("project_id","agent_id","runner") WHERE status = 'pending' and not slot;--> statement-breakpoint
CREATE INDEX "subtasks_by_agent" ON "subtasks" USING btree ("project_id","agent_id","status","id");--> statement-breakpoint
CREATE INDEX "subtasks_by_subagent" ON "subtasks" USING btree ("project_id","subagent_name","id") WHERE subagent_name is not null;--> statement-breakpoint
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
CREATE INDEX "tsgs_by_creation" ON "tsgs" USING btree ("project_id","created_at","tsg_id");--> statement-breakpoint
CREATE UNIQUE INDEX "updates_by_subtask" ON "updates" USING btree ("project_id","subtask_id","seq") WHERE subtask_id is not null;--> statement-breakpoint
CREATE INDEX "updates_by_task" ON "updates" USING btree ("project_id","task_id","seq") WHERE task_id is not null;
--> statement-breakpoint
CREATE TABLE steps_rest PARTITION OF steps DEFAULT;
--> statement-breakpoint
INSERT INTO muster_system.memory (read_seq) VALUES (0);
--> statement-breakpoint
INSERT INTO muster_system.write_check (at) VALUES (clock_timestamp());
--> statement-breakpoint
-- The project of installations that need only one. Before the policies, which bind the owner of the tables too.
INSERT INTO projects (id, name) VALUES ('00000000-0000-7000-8000-000000000001', 'default');
