DROP INDEX "quality_flags_candidates";--> statement-breakpoint
DROP INDEX "session_messages_candidates";--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "next_steps" text[] DEFAULT '{}' NOT NULL;