ALTER TABLE "assignments" ADD COLUMN "turn" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "assignments" ADD COLUMN "briefed_seq" integer DEFAULT 0 NOT NULL;