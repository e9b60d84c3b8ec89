-- Roles. The processes log in as a role of the operator's and work as one of these two; none of them can bypass row-level security.
-- muster_app sees one project at a time. muster_dispatch moves work between projects and sees only the tables that takes.
-- muster_definer owns the few functions that must look across projects before the project is known (which key is this?).
DO $$
DECLARE
  role_name text;
BEGIN
  FOREACH role_name IN ARRAY ARRAY['muster_app', 'muster_dispatch', 'muster_definer'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN NOBYPASSRLS', role_name);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL; -- another database of this cluster was migrated at the same moment
      END;
    END IF;
  END LOOP;
END
$$;
--> statement-breakpoint
CREATE SCHEMA muster_system;
--> statement-breakpoint
-- Empty in production. Tests that move time put one row here, and every process sees the moved clock at its next statement.
CREATE TABLE muster_system.clock (shift interval NOT NULL);
--> statement-breakpoint
-- The one clock of all SQL. now() stands still inside a transaction, so it is stale after a wait for a lock. Compare indexed
-- columns with (SELECT muster_now()), which is evaluated once.
CREATE FUNCTION muster_now() RETURNS timestamptz LANGUAGE sql VOLATILE PARALLEL SAFE AS
$$ SELECT clock_timestamp() + coalesce((SELECT shift FROM muster_system.clock LIMIT 1), interval '0') $$;
--> statement-breakpoint
-- Processes that run subtasks. Each holds the session lock (7301, lock_key) for as long as its connection lives.
CREATE TABLE muster_system.workers (
  id text PRIMARY KEY,
  lock_key integer GENERATED ALWAYS AS IDENTITY UNIQUE,
  runners text[] NOT NULL,
  slots integer NOT NULL,
  started_at timestamptz NOT NULL DEFAULT muster_now(),
  seen_at timestamptz NOT NULL DEFAULT muster_now()
);
--> statement-breakpoint
CREATE SEQUENCE muster_system.event_seq;
--> statement-breakpoint
GRANT USAGE ON SCHEMA public TO muster_app, muster_dispatch, muster_definer;
--> statement-breakpoint
GRANT USAGE ON SCHEMA muster_system TO muster_app, muster_dispatch;
--> statement-breakpoint
GRANT SELECT ON muster_system.clock TO muster_app, muster_dispatch;
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON muster_system.workers TO muster_dispatch;
--> statement-breakpoint
GRANT USAGE ON SEQUENCE muster_system.event_seq TO muster_dispatch;
