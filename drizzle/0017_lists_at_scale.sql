DROP INDEX "schedules_by_id";--> statement-breakpoint
DROP INDEX "subtasks_by_agent";--> statement-breakpoint
CREATE INDEX "schedules_by_agent" ON "schedules" USING btree ("project_id","agent_id","state","id");--> statement-breakpoint
CREATE INDEX "subtasks_waiting_runners" ON "subtasks" USING btree ("project_id","agent_id","runner") WHERE status = 'pending' and not slot;--> statement-breakpoint
CREATE INDEX "subtasks_by_agent" ON "subtasks" USING btree ("project_id","agent_id","status","id");