CREATE TABLE "audit_log" (
	"project_id" uuid NOT NULL,
	"seq" bigint GENERATED ALWAYS AS IDENTITY (sequence name "audit_log_seq_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"actor_kind" text NOT NULL,
	"actor_id" text NOT NULL,
	"actor_name" text,
	"door" text NOT NULL,
	"address" text,
	"operation" text NOT NULL,
	"request_id" text,
	"ids" jsonb NOT NULL,
	"fields" text[] NOT NULL,
	CONSTRAINT "audit_log_project_id_seq_pk" PRIMARY KEY("project_id","seq"),
	CONSTRAINT "audit_log_door" CHECK (door in ('http', 'mcp', 'script'))
);
--> statement-breakpoint
CREATE INDEX "audit_log_at" ON "audit_log" USING brin ("at");--> statement-breakpoint
ALTER TABLE audit_log ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE audit_log FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY project ON audit_log TO muster_app USING (project_id = nullif(current_setting('muster.project_id', true), '')::uuid);
--> statement-breakpoint
CREATE POLICY definer ON audit_log TO muster_definer USING (true);
--> statement-breakpoint
-- Append-only: no role of a process may change or delete an entry.
GRANT SELECT, INSERT ON audit_log TO muster_app;
--> statement-breakpoint
GRANT SELECT, DELETE ON audit_log TO muster_definer;
--> statement-breakpoint
-- The only way in which entries end, and never the young ones: a process that was taken over cannot remove its traces by it.
CREATE FUNCTION muster_delete_audit(days integer, most integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS
$$
DECLARE
  deleted integer;
BEGIN
  DELETE FROM audit_log WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM audit_log WHERE at < (SELECT muster_now()) - greatest(days, 30) * interval '1 day' LIMIT most));
  GET DIAGNOSTICS deleted = ROW_COUNT;
  RETURN deleted;
END
$$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION muster_delete_audit(integer, integer) FROM PUBLIC;
--> statement-breakpoint
GRANT CREATE ON SCHEMA public TO muster_definer;
--> statement-breakpoint
ALTER FUNCTION muster_delete_audit(integer, integer) OWNER TO muster_definer;
--> statement-breakpoint
REVOKE CREATE ON SCHEMA public FROM muster_definer;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_delete_audit(integer, integer) TO muster_dispatch;
