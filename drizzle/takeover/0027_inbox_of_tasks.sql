ALTER TABLE "inbox" ALTER COLUMN "subtask_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "inbox" ADD COLUMN "task_id" uuid;--> statement-breakpoint
ALTER TABLE "inbox" ADD COLUMN "task_status" text;--> statement-breakpoint
CREATE UNIQUE INDEX "inbox_task_end" ON "inbox" USING btree ("task_id") WHERE task_status in ('completed', 'failed', 'cancelled');--> statement-breakpoint
ALTER TABLE "inbox" ADD CONSTRAINT "inbox_task_status" CHECK (task_status in ('in_review', 'completed', 'failed', 'cancelled'));--> statement-breakpoint
ALTER TABLE "inbox" ADD CONSTRAINT "inbox_subject" CHECK ((subtask_id is null) = (task_id is not null) and (task_id is null) = (task_status is null));