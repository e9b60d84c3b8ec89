-- live: yes: it only replaces a function
-- As before, but not before as many rows have changed as there were, instead of half as many. A subtask is three changes, so its table was analyzed each time that it
-- had grown by a sixth; each time takes some 20 to 40 ms, and all sessions plan their statements on it again.
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
      AND s.n_mod_since_analyze > 200 AND s.n_mod_since_analyze > greatest(c.reltuples, 0)
      AND greatest(s.n_live_tup, c.reltuples) > 200
  LOOP
    EXECUTE format('ANALYZE %I.%I', stale.schemaname, stale.relname);
  END LOOP;
END
$$;
