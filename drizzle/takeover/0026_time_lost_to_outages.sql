ALTER TABLE "attempts" ADD COLUMN "lost_ms" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "subtasks" ADD COLUMN "lease_renewed_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "subtasks" ADD COLUMN "lost_ms" bigint DEFAULT 0 NOT NULL;