-- The project of installations that need only one. Before the policies, which bind the owner of the table too.
INSERT INTO projects (id, name) VALUES ('00000000-0000-7000-8000-000000000001', 'default');
--> statement-breakpoint
-- Every table belongs to a project and shows one project at a time. Forced, so that it holds for the owner of the tables too.
DO $$
DECLARE
  table_name text;
BEGIN
  FOREACH table_name IN ARRAY ARRAY['api_keys', 'attempts', 'bodies', 'events', 'idempotency_keys', 'inbox', 'outbox', 'steps', 'subtasks', 'updates'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', table_name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', table_name);
    -- A pooled connection keeps the empty string after SET LOCAL, so the empty string must open nothing.
    EXECUTE format(
      'CREATE POLICY project ON %I TO muster_app USING (project_id = nullif(current_setting(''muster.project_id'', true), '''')::uuid)',
      table_name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO muster_app', table_name);
  END LOOP;
END
$$;
--> statement-breakpoint
ALTER TABLE projects ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE projects FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY project ON projects TO muster_app USING (id = nullif(current_setting('muster.project_id', true), '')::uuid);
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE ON projects TO muster_app;
--> statement-breakpoint
-- The log is written by the relay alone, and an event on its way there is not for reading.
REVOKE INSERT, UPDATE, DELETE ON events FROM muster_app;
--> statement-breakpoint
REVOKE SELECT, UPDATE, DELETE ON outbox FROM muster_app;
--> statement-breakpoint
CREATE POLICY dispatch ON subtasks TO muster_dispatch USING (true);
--> statement-breakpoint
CREATE POLICY dispatch ON attempts TO muster_dispatch USING (true);
--> statement-breakpoint
CREATE POLICY dispatch ON outbox TO muster_dispatch USING (true);
--> statement-breakpoint
CREATE POLICY dispatch ON events TO muster_dispatch USING (true);
--> statement-breakpoint
GRANT SELECT, UPDATE ON subtasks TO muster_dispatch;
--> statement-breakpoint
GRANT SELECT, INSERT ON attempts TO muster_dispatch;
--> statement-breakpoint
GRANT SELECT, INSERT, DELETE ON outbox TO muster_dispatch;
--> statement-breakpoint
GRANT SELECT, INSERT ON events TO muster_dispatch;
--> statement-breakpoint
CREATE POLICY dispatch ON idempotency_keys TO muster_dispatch USING (true);
--> statement-breakpoint
GRANT SELECT, DELETE ON idempotency_keys TO muster_dispatch;
--> statement-breakpoint
CREATE POLICY definer ON api_keys FOR SELECT TO muster_definer USING (true);
--> statement-breakpoint
CREATE POLICY definer ON subtasks FOR SELECT TO muster_definer USING (true);
--> statement-breakpoint
GRANT SELECT ON api_keys, subtasks TO muster_definer;
--> statement-breakpoint
GRANT USAGE ON SCHEMA muster_system TO muster_definer;
--> statement-breakpoint
GRANT SELECT ON muster_system.clock TO muster_definer;
--> statement-breakpoint
CREATE FUNCTION muster_find_api_key(wanted bytea)
  RETURNS TABLE (id uuid, project_id uuid, key_hash bytea, scopes text[], agent_id text, is_revoked boolean, is_expired boolean)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$
  SELECT k.id, k.project_id, k.key_hash, k.scopes, k.agent_id, k.revoked_at IS NOT NULL, coalesce(k.expires_at <= muster_now(), false)
  FROM api_keys k WHERE k.key_hash = wanted
$$;
--> statement-breakpoint
CREATE FUNCTION muster_find_subtask_credential(wanted uuid)
  RETURNS TABLE (project_id uuid, agent_id text, attempt integer, credential_hash bytea)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$
  SELECT s.project_id, s.agent_id, s.attempt, s.credential_hash
  FROM subtasks s WHERE s.id = wanted AND s.status = 'running'
$$;
--> statement-breakpoint
-- Keeps partitions ahead of what is written: today's and the next two days' steps, and two million events. Calling it is cheap
-- when there is nothing to do.
CREATE FUNCTION muster_ensure_partitions() RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS
$$
DECLARE
  events_per_partition constant bigint := 1000000;
  first_seq bigint := (SELECT last_value / events_per_partition * events_per_partition FROM muster_system.event_seq);
  from_seq bigint;
  from_day date;
  partition_name text;
BEGIN
  PERFORM pg_advisory_xact_lock(7300, -1);
  FOR from_seq IN SELECT generate_series(first_seq, first_seq + 2 * events_per_partition, events_per_partition) LOOP
    partition_name := 'events_' || lpad((from_seq / events_per_partition)::text, 6, '0');
    IF to_regclass(format('public.%I', partition_name)) IS NULL THEN
      EXECUTE format('CREATE TABLE %I PARTITION OF events FOR VALUES FROM (%s) TO (%s)', partition_name, from_seq, from_seq + events_per_partition);
      EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', partition_name);
      EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', partition_name);
    END IF;
  END LOOP;
  FOR from_day IN SELECT (muster_now() AT TIME ZONE 'UTC')::date + offset_days FROM generate_series(0, 2) AS offset_days LOOP
    partition_name := 'steps_' || to_char(from_day, 'YYYYMMDD');
    IF to_regclass(format('public.%I', partition_name)) IS NULL THEN
      BEGIN
        EXECUTE format('CREATE TABLE %I PARTITION OF steps FOR VALUES FROM (%L) TO (%L)', partition_name,
          from_day::timestamp AT TIME ZONE 'UTC', (from_day + 1)::timestamp AT TIME ZONE 'UTC');
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', partition_name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', partition_name);
      EXCEPTION WHEN check_violation THEN
        NULL; -- rows of that day are already in the catch-all partition, after a clock jumped; they stay there
      END;
    END IF;
  END LOOP;
END
$$;
--> statement-breakpoint
-- Statistics of tables that have grown much since they were last looked at. A new database is busy for a minute before autovacuum
-- looks at it for the first time, and until then every prepared plan takes its tables for empty. Cheap when there is nothing to do.
CREATE FUNCTION muster_analyze() RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS
$$
DECLARE
  stale record;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7300, -3) THEN
    RETURN; -- another process is at it
  END IF;
  FOR stale IN
    SELECT s.schemaname, s.relname FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
    WHERE (s.schemaname, s.relname) IN (
        ('public', 'subtasks'), ('public', 'attempts'), ('public', 'inbox'), ('public', 'outbox'), ('public', 'updates'), ('pgboss', 'job_common'))
      AND s.n_mod_since_analyze > 200 AND s.n_mod_since_analyze > 0.5 * greatest(c.reltuples, 0)
  LOOP
    EXECUTE format('ANALYZE %I.%I', stale.schemaname, stale.relname);
  END LOOP;
END
$$;
--> statement-breakpoint
CREATE TABLE steps_rest PARTITION OF steps DEFAULT;
--> statement-breakpoint
ALTER TABLE steps_rest ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE steps_rest FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
SELECT muster_ensure_partitions();
--> statement-breakpoint
-- Functions belong to the role whose eyes they use. The owner of the tables keeps muster_ensure_partitions, which creates tables.
GRANT CREATE ON SCHEMA public TO muster_definer;
--> statement-breakpoint
DO $$
BEGIN
  EXECUTE format('GRANT muster_definer TO %I', current_user);
END
$$;
--> statement-breakpoint
ALTER FUNCTION muster_find_api_key(bytea) OWNER TO muster_definer;
--> statement-breakpoint
ALTER FUNCTION muster_find_subtask_credential(uuid) OWNER TO muster_definer;
--> statement-breakpoint
REVOKE CREATE ON SCHEMA public FROM muster_definer;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION muster_find_api_key(bytea), muster_find_subtask_credential(uuid), muster_ensure_partitions(), muster_analyze() FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_find_api_key(bytea), muster_find_subtask_credential(uuid) TO muster_app;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_ensure_partitions(), muster_analyze() TO muster_dispatch;
