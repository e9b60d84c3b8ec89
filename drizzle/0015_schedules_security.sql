DO $$
DECLARE
  table_name text;
BEGIN
  FOREACH table_name IN ARRAY ARRAY['schedules', 'schedule_slots'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', table_name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', table_name);
    EXECUTE format(
      'CREATE POLICY project ON %I TO muster_app USING (project_id = nullif(current_setting(''muster.project_id'', true), '''')::uuid)',
      table_name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON %I TO muster_app', table_name);
    -- Finds what is due across projects; what is due is then fired in its own project.
    EXECUTE format('CREATE POLICY dispatch ON %I FOR SELECT TO muster_dispatch USING (true)', table_name);
    EXECUTE format('GRANT SELECT ON %I TO muster_dispatch', table_name);
  END LOOP;
END
$$;
