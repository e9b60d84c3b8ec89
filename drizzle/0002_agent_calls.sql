ALTER TABLE "hook_reservations" ALTER COLUMN "task_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "hook_reservations" ADD COLUMN "tool_use_id" text;--> statement-breakpoint
ALTER TABLE "hook_reservations" ADD COLUMN "briefed_seq" integer;--> statement-breakpoint
ALTER TABLE "hook_reservations" ADD COLUMN "briefed_revision" integer;--> statement-breakpoint
CREATE INDEX "hook_reservations_bound" ON "hook_reservations" USING btree ("project_id","bound_session_id") WHERE bound_session_id is not null;