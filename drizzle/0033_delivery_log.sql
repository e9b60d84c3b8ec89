-- live: no: new deliveries and the ends of attempts, and with them the relay of events, while indexes are built
ALTER TABLE "deliveries" ADD COLUMN "ended_reason" text;--> statement-breakpoint
CREATE INDEX "deliveries_by_kind" ON "deliveries" USING btree ("project_id","kind","id");--> statement-breakpoint
CREATE INDEX "deliveries_by_subject" ON "deliveries" USING btree ("project_id","subject_id","id");--> statement-breakpoint
CREATE INDEX "deliveries_failed" ON "deliveries" USING btree ("project_id","id") WHERE status = 'failed';
