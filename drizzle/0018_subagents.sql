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
CREATE INDEX "hook_reservations_waiting" ON "hook_reservations" USING btree ("project_id","session_id","subagent_type","id") WHERE bound_session_id is null;