DO $$
DECLARE
  table_name text;
BEGIN
  FOREACH table_name IN ARRAY ARRAY['assignments', 'injection_claims', 'session_messages', 'task_dependencies', 'task_revisions', 'task_tsgs', 'tasks', 'tsg_notices', 'tsg_uses', 'tsgs'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', table_name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', table_name);
    EXECUTE format(
      'CREATE POLICY project ON %I TO muster_app USING (project_id = nullif(current_setting(''muster.project_id'', true), '''')::uuid)',
      table_name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO muster_app', table_name);
  END LOOP;
END
$$;
--> statement-breakpoint
-- What has been agreed is not rewritten.
REVOKE UPDATE, DELETE ON task_revisions FROM muster_app;
--> statement-breakpoint
REVOKE UPDATE, DELETE ON tsg_uses FROM muster_app;
--> statement-breakpoint
CREATE POLICY definer ON tasks FOR SELECT TO muster_definer USING (true);
--> statement-breakpoint
CREATE POLICY definer ON assignments FOR SELECT TO muster_definer USING (true);
--> statement-breakpoint
GRANT SELECT ON tasks, assignments TO muster_definer;
--> statement-breakpoint
-- Full-text operators are not leakproof, so under row-level security their index would stay unused: this function looks for itself,
-- in the project of the transaction alone.
CREATE FUNCTION muster_search_tasks(wanted text, before_id uuid, most integer) RETURNS SETOF uuid
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$
  SELECT t.id FROM tasks t
  WHERE t.search @@ websearch_to_tsquery('simple', wanted)
    AND t.project_id = nullif(current_setting('muster.project_id', true), '')::uuid
    AND (before_id IS NULL OR t.id < before_id)
  ORDER BY t.id DESC LIMIT most
$$;
--> statement-breakpoint
-- The credential that an assignment handed to the session of a sub-agent; nothing once the assignment has ended.
CREATE FUNCTION muster_find_assignment_credential(wanted uuid)
  RETURNS TABLE (project_id uuid, session_id text, credential_hash bytea)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$
  SELECT a.project_id, a.session_id, a.credential_hash
  FROM assignments a WHERE a.task_id = wanted AND a.ended_at IS NULL AND a.credential_hash IS NOT NULL
$$;
--> statement-breakpoint
GRANT CREATE ON SCHEMA public TO muster_definer;
--> statement-breakpoint
ALTER FUNCTION muster_search_tasks(text, uuid, integer) OWNER TO muster_definer;
--> statement-breakpoint
ALTER FUNCTION muster_find_assignment_credential(uuid) OWNER TO muster_definer;
--> statement-breakpoint
REVOKE CREATE ON SCHEMA public FROM muster_definer;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION muster_search_tasks(text, uuid, integer), muster_find_assignment_credential(uuid) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_search_tasks(text, uuid, integer), muster_find_assignment_credential(uuid) TO muster_app;
