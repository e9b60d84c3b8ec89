ALTER TABLE "subtasks" DROP CONSTRAINT "subtasks_status";--> statement-breakpoint
DROP INDEX "subtasks_scheduled_live";--> statement-breakpoint
ALTER TABLE "subtasks" ADD COLUMN "waiting_for" uuid;--> statement-breakpoint
ALTER TABLE "subtasks" ADD COLUMN "waiting_since" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "subtasks" ADD COLUMN "waited_ms" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "subtasks" ADD COLUMN "continuation_body_id" uuid;--> statement-breakpoint
CREATE INDEX "subtasks_scheduled_live" ON "subtasks" USING btree ("schedule_id") WHERE schedule_id is not null and status in ('pending', 'running', 'waiting');--> statement-breakpoint
ALTER TABLE "subtasks" ADD CONSTRAINT "subtasks_waiting_for" CHECK ((status = 'waiting') = (waiting_for is not null) and (waiting_for is null) = (waiting_since is null));--> statement-breakpoint
ALTER TABLE "subtasks" ADD CONSTRAINT "subtasks_status" CHECK (status in ('pending', 'running', 'waiting', 'completed', 'failed', 'cancelled'));