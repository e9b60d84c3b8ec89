CREATE TABLE "spent_totals" (
	"project_id" uuid NOT NULL,
	"agent_id" text NOT NULL,
	"tokens" bigint NOT NULL,
	"cost_micros" bigint NOT NULL,
	CONSTRAINT "spent_totals_project_id_agent_id_pk" PRIMARY KEY("project_id","agent_id")
);
--> statement-breakpoint
DROP INDEX "judgements_waiting";--> statement-breakpoint
ALTER TABLE "judgements" ADD COLUMN "reserved_tokens" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "judgements" ADD COLUMN "reserved_cost_micros" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "spent_through" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "judgements_pending" ON "judgements" USING btree ("project_id","created_at") WHERE status = 'pending';--> statement-breakpoint
ALTER TABLE spent_totals ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE spent_totals FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY project ON spent_totals TO muster_app USING (project_id = nullif(current_setting('muster.project_id', true), '')::uuid);
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE ON spent_totals TO muster_app;
