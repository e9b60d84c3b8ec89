DROP INDEX "tsgs_by_update";--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "subject_name" text;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "subject_name" text;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "tsg_revision" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "tsgs_by_creation" ON "tsgs" USING btree ("project_id","created_at","tsg_id");