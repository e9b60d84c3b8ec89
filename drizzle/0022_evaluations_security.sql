DO $$
DECLARE
  table_name text;
BEGIN
  FOREACH table_name IN ARRAY ARRAY['evaluations', 'judgements', 'quality_flags', 'facts', 'forgotten_episodes'] LOOP
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
-- A verdict is not rewritten: another one is added.
REVOKE UPDATE, DELETE ON evaluations FROM muster_app;
--> statement-breakpoint
REVOKE DELETE ON judgements, quality_flags FROM muster_app;
