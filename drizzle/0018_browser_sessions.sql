CREATE TABLE "browser_sessions" (
	"project_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"api_key_id" uuid NOT NULL,
	"token_hash" "bytea" NOT NULL,
	"previous_hash" "bytea",
	"previous_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"renewed_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "browser_sessions_hash" ON "browser_sessions" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "browser_sessions_previous" ON "browser_sessions" USING btree ("previous_hash");--> statement-breakpoint
CREATE INDEX "browser_sessions_expiry" ON "browser_sessions" USING btree ("project_id","expires_at");--> statement-breakpoint
ALTER TABLE browser_sessions ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE browser_sessions FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY project ON browser_sessions TO muster_app USING (project_id = nullif(current_setting('muster.project_id', true), '')::uuid);
--> statement-breakpoint
CREATE POLICY definer ON browser_sessions FOR SELECT TO muster_definer USING (true);
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON browser_sessions TO muster_app;
--> statement-breakpoint
GRANT SELECT ON browser_sessions TO muster_definer;
--> statement-breakpoint
-- The sign-in of a browser by the hash of its token, before its project is known. The CSRF token follows from what only the database has.
CREATE FUNCTION muster_find_browser_session(wanted bytea)
  RETURNS TABLE (key_id uuid, project_id uuid, scopes text[], agent_id text, is_revoked boolean, is_expired boolean, csrf_token text, is_newest boolean,
    age_seconds double precision, expires_at timestamptz)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$
  SELECT k.id, k.project_id, k.scopes, k.agent_id, k.revoked_at IS NOT NULL, coalesce(k.expires_at <= muster_now(), false),
    encode(sha256(convert_to('csrf ' || b.id, 'UTF8') || k.key_hash), 'hex'), b.token_hash = wanted,
    extract(epoch FROM muster_now() - b.renewed_at)::double precision, b.expires_at
  FROM browser_sessions b JOIN api_keys k ON k.project_id = b.project_id AND k.id = b.api_key_id
  WHERE (b.token_hash = wanted OR b.previous_hash = wanted AND b.previous_until > muster_now()) AND b.expires_at > muster_now()
$$;
--> statement-breakpoint
GRANT CREATE ON SCHEMA public TO muster_definer;
--> statement-breakpoint
ALTER FUNCTION muster_find_browser_session(bytea) OWNER TO muster_definer;
--> statement-breakpoint
REVOKE CREATE ON SCHEMA public FROM muster_definer;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION muster_find_browser_session(bytea) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_find_browser_session(bytea) TO muster_app;
