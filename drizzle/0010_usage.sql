-- Writes to judgements and subtasks wait while their indexes are built.
ALTER TABLE "attempts" ADD COLUMN "model" text;--> statement-breakpoint
ALTER TABLE "attempts" ADD COLUMN "cached_input_tokens" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "judgements" ADD COLUMN "used_model" text;--> statement-breakpoint
ALTER TABLE "judgements" ADD COLUMN "cached_input_tokens" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "budget_max_tokens" bigint;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "budget_max_cost_micros" bigint;--> statement-breakpoint
CREATE INDEX "judgements_by_end" ON "judgements" USING btree ("project_id","ended_at") WHERE ended_at is not null;--> statement-breakpoint
CREATE INDEX "subtasks_by_end" ON "subtasks" USING btree ("project_id","completed_at") WHERE completed_at is not null;
