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
	"search" "tsvector" GENERATED ALWAYS AS (to_tsvector('simple', left(content, 20000))) STORED,
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
ALTER TABLE "subtasks" ADD COLUMN "max_revisions" smallint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "evaluations_by_subtask" ON "evaluations" USING btree ("project_id","subtask_id","is_judged") WHERE subtask_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "evaluations_by_judged" ON "evaluations" USING btree ("project_id","judge_of") WHERE judge_of is not null;--> statement-breakpoint
CREATE INDEX "evaluations_by_task" ON "evaluations" USING btree ("project_id","task_id","id") WHERE task_id is not null;--> statement-breakpoint
CREATE INDEX "evaluations_by_time" ON "evaluations" USING brin ("created_at");--> statement-breakpoint
CREATE INDEX "facts_search" ON "facts" USING gin ("search");--> statement-breakpoint
CREATE INDEX "judgements_waiting" ON "judgements" USING btree ("project_id","created_at");--> statement-breakpoint
CREATE INDEX "quality_flags_candidates" ON "quality_flags" USING btree ("project_id","subject_id") WHERE training_candidate;--> statement-breakpoint
CREATE INDEX "session_messages_candidates" ON "session_messages" USING btree ("project_id","id") WHERE training_candidate;--> statement-breakpoint
CREATE INDEX "subtasks_by_subagent" ON "subtasks" USING btree ("project_id","subagent_name","id") WHERE subagent_name is not null;