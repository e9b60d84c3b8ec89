-- Writes to evaluations wait while they are read once for the constraint and once for the index, which is empty.
ALTER TABLE "evaluations" DROP CONSTRAINT "evaluations_origin";--> statement-breakpoint
ALTER TABLE "evaluations" ADD COLUMN "review_of" uuid;--> statement-breakpoint
CREATE UNIQUE INDEX "evaluations_by_reviewed" ON "evaluations" USING btree ("project_id","review_of") WHERE review_of is not null;--> statement-breakpoint
ALTER TABLE "evaluations" ADD CONSTRAINT "evaluations_origin" CHECK (origin in ('request', 'message', 'subtask', 'completion', 'review'));