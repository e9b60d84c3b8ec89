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
CREATE TABLE "events" (
	"project_id" uuid NOT NULL,
	"seq" bigint PRIMARY KEY NOT NULL,
	"type" text NOT NULL,
	"subject_kind" text NOT NULL,
	"subject_id" uuid NOT NULL,
	"data" jsonb NOT NULL,
	"actor_kind" text NOT NULL,
	"actor_id" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL
) PARTITION BY RANGE ("seq");
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
	"subtask_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"claim_id" uuid,
	"lease_expires_at" timestamp (3) with time zone,
	"delivered_at" timestamp (3) with time zone
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
	"at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "projects" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"settings" jsonb DEFAULT '{}'::jsonb NOT NULL,
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
	CONSTRAINT "subtasks_status" CHECK (status in ('pending', 'running', 'completed', 'failed', 'cancelled')),
	CONSTRAINT "subtasks_priority" CHECK (priority in ('urgent', 'normal', 'low')),
	CONSTRAINT "subtasks_final_outcome" CHECK (final_outcome in ('completed', 'cancelled', 'incomplete_blocked', 'validation_failed', 'timed_out', 'errored', 'worker_lost', 'budget_exceeded')),
	CONSTRAINT "subtasks_terminal" CHECK ((status in ('completed', 'failed', 'cancelled')) = (final_outcome is not null) and (final_outcome is null) = (completed_at is null)),
	CONSTRAINT "subtasks_slot" CHECK ((not slot or status in ('pending', 'running')) and (slot or status <> 'running') and slot = (job_id is not null))
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
	CONSTRAINT "updates_status" CHECK (status in ('queued', 'delivered', 'acknowledged', 'superseded', 'expired')),
	CONSTRAINT "updates_target" CHECK ((subtask_id is null) <> (task_id is null))
);
--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_hash" ON "api_keys" USING btree ("key_hash");--> statement-breakpoint
CREATE INDEX "api_keys_project" ON "api_keys" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "events_by_project" ON "events" USING btree ("project_id","seq");--> statement-breakpoint
CREATE INDEX "events_by_subject" ON "events" USING btree ("project_id","subject_id","seq");--> statement-breakpoint
CREATE INDEX "idempotency_keys_age" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "inbox_subtask" ON "inbox" USING btree ("subtask_id");--> statement-breakpoint
CREATE INDEX "inbox_waiting" ON "inbox" USING btree ("project_id","session_id","id") WHERE delivered_at is null;--> statement-breakpoint
CREATE INDEX "subtasks_by_id" ON "subtasks" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "subtasks_by_status" ON "subtasks" USING btree ("project_id","status","id");--> statement-breakpoint
CREATE INDEX "subtasks_by_agent" ON "subtasks" USING btree ("project_id","agent_id","id");--> statement-breakpoint
CREATE INDEX "subtasks_by_session" ON "subtasks" USING btree ("project_id","parent_session_id","id") WHERE parent_session_id is not null;--> statement-breakpoint
CREATE INDEX "subtasks_by_task" ON "subtasks" USING btree ("project_id","task_id","id") WHERE task_id is not null;--> statement-breakpoint
CREATE INDEX "subtasks_by_schedule" ON "subtasks" USING btree ("project_id","schedule_id","id") WHERE schedule_id is not null;--> statement-breakpoint
CREATE INDEX "subtasks_waiting" ON "subtasks" USING btree ("project_id","agent_id","rank_at","id") WHERE status = 'pending' and not slot;--> statement-breakpoint
CREATE INDEX "subtasks_slots" ON "subtasks" USING btree ("project_id","agent_id") WHERE slot;--> statement-breakpoint
CREATE INDEX "subtasks_leases" ON "subtasks" USING btree ("lease_expires_at") WHERE status = 'running';--> statement-breakpoint
CREATE INDEX "subtasks_unclaimed" ON "subtasks" USING btree ("slot_at") WHERE status = 'pending' and slot;--> statement-breakpoint
CREATE UNIQUE INDEX "updates_by_subtask" ON "updates" USING btree ("project_id","subtask_id","seq") WHERE subtask_id is not null;--> statement-breakpoint
CREATE INDEX "updates_by_task" ON "updates" USING btree ("project_id","task_id","seq") WHERE task_id is not null;