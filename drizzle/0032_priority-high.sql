-- live: yes: checks that no row is read for, since they take all that the former ones took
ALTER TABLE "schedules" DROP CONSTRAINT "schedules_priority";
--> statement-breakpoint
ALTER TABLE "subtasks" DROP CONSTRAINT "subtasks_priority";
--> statement-breakpoint
ALTER TABLE "schedules" ADD CONSTRAINT "schedules_priority" CHECK (priority in ('low', 'normal', 'high', 'urgent')) NOT VALID;
--> statement-breakpoint
ALTER TABLE "subtasks" ADD CONSTRAINT "subtasks_priority" CHECK (priority in ('low', 'normal', 'high', 'urgent')) NOT VALID;
