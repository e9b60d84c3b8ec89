ALTER TABLE "schedules" ADD COLUMN "subagent" text;--> statement-breakpoint
ALTER TABLE "subtasks" ADD COLUMN "resume_of" uuid;