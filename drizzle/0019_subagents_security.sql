DO $$
DECLARE
  table_name text;
BEGIN
  FOREACH table_name IN ARRAY ARRAY['subagents', 'subagent_versions', 'hook_reservations'] LOOP
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
-- What a run was given is not rewritten.
REVOKE UPDATE, DELETE ON subagent_versions FROM muster_app;
