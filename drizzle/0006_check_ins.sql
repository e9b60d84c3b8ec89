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
CREATE INDEX "check_ins_by_task" ON "check_ins" USING btree ("project_id","task_id","id");