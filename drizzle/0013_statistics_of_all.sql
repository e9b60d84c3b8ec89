-- Of whatever has grown, briefs and injections too, instead of a list that every new table would have to be added to.
CREATE OR REPLACE FUNCTION muster_analyze() RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET default_statistics_target = '10' AS
$$
DECLARE
  stale record;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7300, -3) THEN
    RETURN; -- another process is at it
  END IF;
  FOR stale IN
    SELECT s.schemaname, s.relname FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
    WHERE (s.schemaname = 'public' OR (s.schemaname, s.relname) = ('pgboss', 'job_common')) AND NOT c.relispartition
      AND s.n_mod_since_analyze > 200 AND s.n_mod_since_analyze > 0.5 * greatest(c.reltuples, 0)
  LOOP
    EXECUTE format('ANALYZE %I.%I', stale.schemaname, stale.relname);
  END LOOP;
END
$$;
