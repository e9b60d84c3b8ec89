-- Analyzes the tables that have grown much since the last time. Autovacuum reaches a new database only after a minute, and until then every prepared plan
-- assumes that its tables are empty. For these tables a sample of 3,000 rows is as good as one of 30,000, in a tenth of the time. Cheap when there is
-- nothing to do. A table with few rows is left alone, however often they change: queues change all the time, and each ANALYZE makes every connection plan
-- its statements on that table again.
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
      AND greatest(s.n_live_tup, c.reltuples) > 200
  LOOP
    EXECUTE format('ANALYZE %I.%I', stale.schemaname, stale.relname);
  END LOOP;
END
$$;
--> statement-breakpoint
-- muster_remember_episodes asks for custom plans, which these functions would inherit: they would be planned for each episode.
ALTER FUNCTION muster_words(text) SET plan_cache_mode = force_generic_plan;
--> statement-breakpoint
ALTER FUNCTION muster_episode_words(uuid, text, text, text, uuid) SET plan_cache_mode = force_generic_plan;
--> statement-breakpoint
-- The update fails on a read-only server, and where the write-ahead log cannot be written. It fits into an existing page and so does not notice a full disk.
-- The numbers do: they do not fit into 64 kB of memory, and need about a hundred kilobytes of a temporary file.
CREATE OR REPLACE FUNCTION muster_system.check_writes() RETURNS void LANGUAGE plpgsql SET work_mem = '64kB' AS
$$
BEGIN
  UPDATE muster_system.write_check SET at = clock_timestamp();
  PERFORM count(*) FROM generate_series(1, 4000);
END
$$;
