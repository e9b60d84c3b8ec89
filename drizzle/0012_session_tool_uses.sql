CREATE TABLE "session_tool_uses" (
	"project_id" uuid NOT NULL,
	"session_id" text NOT NULL,
	"uses" jsonb NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	CONSTRAINT "session_tool_uses_project_id_session_id_pk" PRIMARY KEY("project_id","session_id")
);
--> statement-breakpoint
CREATE INDEX "session_tool_uses_old" ON "session_tool_uses" USING btree ("project_id","updated_at");--> statement-breakpoint
ALTER TABLE session_tool_uses ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE session_tool_uses FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY project ON session_tool_uses TO muster_app USING (project_id = nullif(current_setting('muster.project_id', true), '')::uuid);
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON session_tool_uses TO muster_app;
