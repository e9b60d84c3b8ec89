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
	CONSTRAINT "schedules_phrase_kind" CHECK (phrase_kind in ('when', 'every', 'cron')),
	CONSTRAINT "schedules_state" CHECK (state in ('active', 'paused', 'finished', 'deactivated')),
	CONSTRAINT "schedules_overlap" CHECK (overlap in ('skip', 'allow')),
	CONSTRAINT "schedules_missed" CHECK (missed in ('skip', 'run_once')),
	CONSTRAINT "schedules_priority" CHECK (priority in ('urgent', 'normal', 'low')),
	CONSTRAINT "schedules_ended" CHECK (next_fire_at is null or state in ('active', 'paused')),
	CONSTRAINT "schedules_max_fires" CHECK (max_fires is null or fire_count <= max_fires)
);
--> statement-breakpoint
CREATE UNIQUE INDEX "schedule_slots_once" ON "schedule_slots" USING btree ("schedule_id","slot") WHERE not manual;--> statement-breakpoint
CREATE INDEX "schedule_slots_by_schedule" ON "schedule_slots" USING btree ("project_id","schedule_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "schedule_slots_waiting" ON "schedule_slots" USING btree ("schedule_id") WHERE outcome = 'waiting';--> statement-breakpoint
CREATE INDEX "schedule_slots_waiting_lanes" ON "schedule_slots" USING btree ("project_id","agent_id","slot") WHERE outcome = 'waiting';--> statement-breakpoint
CREATE INDEX "schedules_by_id" ON "schedules" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "schedules_by_state" ON "schedules" USING btree ("project_id","state","id");--> statement-breakpoint
CREATE INDEX "schedules_due" ON "schedules" USING btree ("next_fire_at") WHERE next_fire_at is not null;--> statement-breakpoint
CREATE INDEX "subtasks_scheduled_live" ON "subtasks" USING btree ("schedule_id") WHERE schedule_id is not null and status in ('pending', 'running');