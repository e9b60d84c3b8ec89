-- Roles. The processes log in as a role of the operator's and work as one of these two; none of them can bypass row-level security.
-- muster_app sees one project at a time. muster_dispatch moves work between projects and sees only the tables that this takes.
-- muster_definer owns the few functions that must look across projects before the project is known (which key is this?), and those that search.
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
GRANT USAGE ON SCHEMA public, muster_system TO muster_app, muster_dispatch, muster_definer;
--> statement-breakpoint

-- Row-level security -------------------------------------------------------------------------------------------------------------------------------

-- Every table belongs to a project and shows one project at a time. Forced, so that it holds for the owner of the tables too.
DO $$
DECLARE
  table_name text;
BEGIN
  FOREACH table_name IN ARRAY ARRAY[
    'api_keys', 'assignments', 'attempts', 'bodies', 'check_ins', 'episode_words', 'evaluations', 'events', 'facts', 'forgotten_episodes',
    'hook_reservations', 'idempotency_keys', 'inbox', 'injection_claims', 'judgements', 'outbox', 'quality_flags', 'schedule_slots', 'schedules',
    'session_messages', 'steps', 'subagent_versions', 'subagents', 'subtasks', 'task_dependencies', 'task_revisions', 'task_tsgs', 'tasks',
    'tsg_notices', 'tsg_uses', 'tsgs', 'updates'
  ] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', table_name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', table_name);
    -- A pooled connection keeps the empty string after SET LOCAL, so the empty string must open nothing.
    EXECUTE format(
      'CREATE POLICY project ON %I TO muster_app USING (project_id = nullif(current_setting(''muster.project_id'', true), '''')::uuid)',
      table_name);
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
-- A partition has no policy, so it shows no row under its own name.
ALTER TABLE steps_rest ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE steps_rest FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
-- The dispatcher works across projects.
CREATE POLICY dispatch ON subtasks TO muster_dispatch USING (true);
--> statement-breakpoint
CREATE POLICY dispatch ON attempts TO muster_dispatch USING (true);
--> statement-breakpoint
CREATE POLICY dispatch ON outbox TO muster_dispatch USING (true);
--> statement-breakpoint
CREATE POLICY dispatch ON events TO muster_dispatch USING (true);
--> statement-breakpoint
CREATE POLICY dispatch ON idempotency_keys TO muster_dispatch USING (true);
--> statement-breakpoint
-- Workers look at all their runs at once and have to see whether the task of one has changed.
CREATE POLICY dispatch ON assignments FOR SELECT TO muster_dispatch USING (true);
--> statement-breakpoint
-- The scheduler finds the slots that are due across projects, and fires each in its own project.
CREATE POLICY dispatch ON schedules FOR SELECT TO muster_dispatch USING (true);
--> statement-breakpoint
CREATE POLICY dispatch ON schedule_slots FOR SELECT TO muster_dispatch USING (true);
--> statement-breakpoint
-- What the functions of muster_definer read.
DO $$
DECLARE
  table_name text;
BEGIN
  FOREACH table_name IN ARRAY ARRAY['api_keys', 'assignments', 'bodies', 'events', 'facts', 'forgotten_episodes', 'subtasks', 'tasks', 'tsgs'] LOOP
    EXECUTE format('CREATE POLICY definer ON %I FOR SELECT TO muster_definer USING (true)', table_name);
  END LOOP;
END
$$;
--> statement-breakpoint
CREATE POLICY definer ON episode_words TO muster_definer USING (true);
--> statement-breakpoint

-- # Rights on tables

GRANT SELECT, INSERT, UPDATE, DELETE ON api_keys, assignments, attempts, bodies, hook_reservations, idempotency_keys, inbox, injection_claims,
  session_messages, steps, subagents, subtasks, task_dependencies, task_tsgs, tasks, tsg_notices, tsgs, updates TO muster_app;
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE ON judgements, projects, quality_flags, schedule_slots, schedules TO muster_app;
--> statement-breakpoint
-- Append-only: revisions, check-ins and evaluations are never rewritten, a run keeps the version of its sub-agent, and a forgotten episode stays forgotten.
GRANT SELECT, INSERT ON check_ins, evaluations, forgotten_episodes, subagent_versions, task_revisions, tsg_uses TO muster_app;
--> statement-breakpoint
-- A fact is not rewritten, but deleted and learnt anew.
GRANT SELECT, INSERT, DELETE ON facts TO muster_app;
--> statement-breakpoint
-- Only the relay writes the log, and an event on its way there is not for reading.
GRANT SELECT ON events TO muster_app;
--> statement-breakpoint
GRANT INSERT ON outbox TO muster_app;
--> statement-breakpoint
-- Forgetting an episode deletes its words. Only muster_search_memory searches them.
GRANT SELECT (project_id, subtask_id), DELETE ON episode_words TO muster_app;
--> statement-breakpoint
GRANT SELECT, UPDATE ON subtasks TO muster_dispatch;
--> statement-breakpoint
GRANT SELECT, INSERT ON attempts, events TO muster_dispatch;
--> statement-breakpoint
GRANT SELECT, INSERT, DELETE ON outbox TO muster_dispatch;
--> statement-breakpoint
GRANT SELECT, DELETE ON idempotency_keys TO muster_dispatch;
--> statement-breakpoint
GRANT SELECT ON api_keys, assignments, bodies, events, facts, forgotten_episodes, subtasks, tasks, tsgs TO muster_definer;
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE ON episode_words TO muster_definer;
--> statement-breakpoint
GRANT SELECT ON assignments, schedules, schedule_slots TO muster_dispatch;
--> statement-breakpoint
GRANT SELECT ON muster_system.clock TO muster_app, muster_dispatch, muster_definer;
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON muster_system.workers TO muster_dispatch;
--> statement-breakpoint
GRANT USAGE ON SEQUENCE muster_system.event_seq TO muster_dispatch;
--> statement-breakpoint
GRANT SELECT, UPDATE ON muster_system.memory TO muster_definer;
--> statement-breakpoint
GRANT SELECT, UPDATE ON muster_system.write_check TO muster_app, muster_dispatch;
--> statement-breakpoint

-- # Storage and statistics

-- Rows that come and go all the time: autovacuum removes dead ones before they slow the reads of the rest.
ALTER TABLE outbox SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
--> statement-breakpoint
ALTER TABLE subtasks SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
--> statement-breakpoint
-- Written once when an attempt begins and once when it ends, no index touched: with room in the page, both stay in it.
ALTER TABLE attempts SET (fillfactor = 70);
--> statement-breakpoint
-- The planner chooses an index by how common a word is. A sample of the usual size would know too few words.
ALTER TABLE episode_words ALTER COLUMN search SET STATISTICS 100;
--> statement-breakpoint
ALTER TABLE facts ALTER COLUMN search SET STATISTICS 100;
--> statement-breakpoint

-- # Credentials

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
-- The credential of an assignment. No row once the assignment has ended.
CREATE FUNCTION muster_find_assignment_credential(wanted uuid)
  RETURNS TABLE (project_id uuid, session_id text, credential_hash bytea)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$
  SELECT a.project_id, a.session_id, a.credential_hash
  FROM assignments a WHERE a.task_id = wanted AND a.ended_at IS NULL AND a.credential_hash IS NOT NULL
$$;
--> statement-breakpoint

-- # Maintenance

-- Creates partitions ahead of the writes: for the steps of today and the next two days, and for two million events. Cheap when there is nothing to do.
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
-- Analyzes the tables that have grown much since the last time. Autovacuum reaches a new database only after a minute, and until then every prepared plan
-- assumes that its tables are empty. For these tables a sample of 3,000 rows is as good as one of 30,000, in a tenth of the time. Cheap when there is
-- nothing to do.
CREATE FUNCTION muster_analyze() RETURNS void
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
--> statement-breakpoint
-- The update fails on a read-only server, and where the write-ahead log cannot be written. It fits into an existing page and so does not notice a full disk.
-- The numbers do: they do not fit into 64 kB of memory, and need some hundred kilobytes of a temporary file.
CREATE FUNCTION muster_system.check_writes() RETURNS void LANGUAGE plpgsql SET work_mem = '64kB' AS
$$
BEGIN
  UPDATE muster_system.write_check SET at = clock_timestamp();
  PERFORM count(*) FROM generate_series(1, 30000);
END
$$;
--> statement-breakpoint

-- # Events

-- The relay, as one call instead of five: moves waiting events into the log and numbers them. One relay at a time, by a lock that ends with the
-- transaction, so that numbers are committed in their order. Each statement sees what was committed before it, so it finds no events that another relay
-- has just moved. Returns no row while another relay holds the lock.
CREATE FUNCTION muster_relay(most integer) RETURNS TABLE (moved integer)
  LANGUAGE plpgsql VOLATILE SET search_path = public, pg_temp AS
$$
DECLARE
  last_seq bigint;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7300, 1) THEN
    RETURN;
  END IF;
  WITH gone AS (
    DELETE FROM outbox WHERE id = ANY(ARRAY(SELECT id FROM outbox ORDER BY id LIMIT most)) RETURNING *
  ),
  written AS (
    INSERT INTO events (seq, project_id, type, subject_kind, subject_id, subject_name, data, actor_kind, actor_id, at)
    SELECT nextval('muster_system.event_seq'), project_id, type, subject_kind, subject_id, subject_name, data, actor_kind, actor_id, at
    FROM (SELECT * FROM gone ORDER BY id) AS ordered
    RETURNING seq
  )
  SELECT count(*)::int, max(seq) INTO moved, last_seq FROM written;
  -- Followers must not be told before the log can be read, so this bell rings with the commit.
  IF moved > 0 THEN
    PERFORM pg_notify('muster_events', 'relay,' || last_seq);
  END IF;
  RETURN NEXT;
END
$$;
--> statement-breakpoint

-- # Search
-- Full-text operators are not leakproof, so under row-level security their index would stay unused. These functions search as muster_definer, in the
-- project of the transaction alone. They apply the filters of the list themselves: rows that a filter leaves out must not count towards a page.

CREATE FUNCTION muster_search_tasks(
    wanted text, before_id uuid, most integer, of_status text, of_priority text, of_parent text, of_holder text) RETURNS SETOF uuid
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$
  SELECT t.id FROM tasks t
  WHERE t.search @@ websearch_to_tsquery('simple', wanted)
    AND t.project_id = nullif(current_setting('muster.project_id', true), '')::uuid
    AND (before_id IS NULL OR t.id < before_id)
    AND (of_status IS NULL OR t.status = of_status)
    AND (of_priority IS NULL OR t.priority = of_priority)
    AND (of_parent IS NULL OR t.parent_session_id = of_parent)
    AND (of_holder IS NULL OR t.subagent_session_id = of_holder)
  ORDER BY t.id DESC LIMIT most
$$;
--> statement-breakpoint
-- The words by which a guide is found. The beginning of its content is enough, and keeps any text within the limit of a tsvector. array_to_string is not
-- marked immutable because of other types; for arrays of text it depends on nothing but its arguments.
CREATE FUNCTION muster_tsg_words(tsg_id text, title text, patterns text[], content text) RETURNS tsvector
  LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS
$$
  SELECT to_tsvector('pg_catalog.simple', tsg_id || ' ' || title || ' ' || array_to_string(patterns, ' ') || ' ' || left(content, 20000))
$$;
--> statement-breakpoint
CREATE INDEX tsgs_search ON tsgs USING gin (muster_tsg_words(tsg_id, title, patterns, content));
--> statement-breakpoint
CREATE FUNCTION muster_search_tsgs(
    wanted text, of_technology text, of_severity text, before_at timestamptz, before_id text, most integer) RETURNS SETOF text
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$
  SELECT t.tsg_id FROM tsgs t
  WHERE muster_tsg_words(t.tsg_id, t.title, t.patterns, t.content) @@ websearch_to_tsquery('simple', wanted)
    AND t.project_id = nullif(current_setting('muster.project_id', true), '')::uuid
    AND (of_technology IS NULL OR EXISTS (SELECT FROM unnest(t.technologies) AS technology WHERE lower(technology) = lower(of_technology)))
    AND (of_severity IS NULL OR t.severity = of_severity)
    AND (before_at IS NULL OR (t.created_at, t.tsg_id) < (before_at, before_id))
  ORDER BY t.created_at DESC, t.tsg_id DESC LIMIT most
$$;
--> statement-breakpoint

-- # Memory

-- Splits text at all ASCII punctuation, for the index and for queries alike, so that a part of a path, a name or an address finds it. PostgreSQL's own
-- parser keeps such a name as one word.
CREATE FUNCTION muster_words(words text) RETURNS tsvector
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS
$$ SELECT to_tsvector('simple', translate(words, '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', repeat(' ', 32))) $$;
--> statement-breakpoint
-- The beginning of a stored body as text, cut before a whole character. A body that is not text has no words, and does not stop the others.
CREATE FUNCTION muster_body_beginning(bytes bytea, bytes_most integer) RETURNS text
  LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS
$$
DECLARE
  head bytea := substring(bytes FROM 1 FOR bytes_most + 1);
  size integer := length(head);
BEGIN
  IF size > bytes_most THEN
    size := bytes_most;
    WHILE size > 0 AND get_byte(head, size) & 192 = 128 LOOP
      size := size - 1;
    END LOOP;
  END IF;
  RETURN convert_from(substring(head FROM 1 FOR size), 'UTF8');
EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
  RETURN '';
END
$$;
--> statement-breakpoint
-- The words of an episode, from the columns of its subtask.
CREATE FUNCTION muster_episode_words(project uuid, task text, summary text, result text, result_body uuid) RETURNS tsvector
  LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS
$$
  SELECT muster_words(concat_ws(' ', left(task, 8000), left(summary, 2000),
    left(coalesce(result, (SELECT muster_body_beginning(b.bytes, 32000) FROM bodies b WHERE b.project_id = project AND b.id = result_body)), 8000)))
$$;
--> statement-breakpoint
-- Adds the next ended subtasks to the search index, in the order of the event log, which misses none; row ids and times would, where transactions overlap.
-- With what the log leaves of `most`, renews older episodes in the order of the primary key: the log of a busy server is never empty, and they would not be
-- reached. One process at a time. Returns how many events and episodes it has read. Fewer than `most`: there are no more, or another process does this.
CREATE FUNCTION muster_remember_episodes(most integer) RETURNS integer
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET plan_cache_mode = force_custom_plan AS
$$
DECLARE
  place muster_system.memory;
  next_seq bigint;
  seen integer;
  room integer;
  renewed_count integer;
  ended uuid[];
BEGIN
  IF NOT pg_try_advisory_xact_lock(7300, 2) THEN
    RETURN 0;
  END IF;
  SELECT * INTO place FROM muster_system.memory;
  SELECT count(*), max(e.seq), array_agg(e.subject_id) FILTER (WHERE e.type IN ('subtask.completed', 'subtask.failed', 'subtask.cancelled'))
    INTO seen, next_seq, ended
    FROM (SELECT seq, type, subject_id FROM events WHERE seq > place.read_seq ORDER BY seq LIMIT most) AS e;
  IF seen > 0 THEN
    INSERT INTO episode_words (project_id, subtask_id, agent_id, search)
      SELECT s.project_id, s.id, s.agent_id, muster_episode_words(s.project_id, s.task, s.summary, s.result, s.result_body_id)
      FROM subtasks s
      WHERE s.id = ANY(ended) AND s.status IN ('completed', 'failed', 'cancelled')
        AND NOT EXISTS (SELECT FROM forgotten_episodes f WHERE f.project_id = s.project_id AND f.subtask_id = s.id)
      ON CONFLICT DO NOTHING;
    UPDATE muster_system.memory SET read_seq = next_seq;
  END IF;
  room := most - seen;
  IF place.is_renewed OR room = 0 THEN
    RETURN seen;
  END IF;
  WITH old AS (
    SELECT w.project_id, w.subtask_id FROM episode_words w
    WHERE place.renewed_project IS NULL OR (w.project_id, w.subtask_id) > (place.renewed_project, place.renewed_subtask)
    ORDER BY w.project_id, w.subtask_id LIMIT room
  ), renewed AS (
    UPDATE episode_words w SET search = muster_episode_words(s.project_id, s.task, s.summary, s.result, s.result_body_id)
    FROM old JOIN subtasks s ON s.id = old.subtask_id AND s.project_id = old.project_id
    WHERE w.project_id = old.project_id AND w.subtask_id = old.subtask_id
  )
  SELECT count(*), (array_agg(old.project_id ORDER BY old.project_id DESC, old.subtask_id DESC))[1],
      (array_agg(old.subtask_id ORDER BY old.project_id DESC, old.subtask_id DESC))[1]
    INTO renewed_count, place.renewed_project, place.renewed_subtask FROM old;
  UPDATE muster_system.memory SET is_renewed = renewed_count < room,
    renewed_project = coalesce(place.renewed_project, renewed_project), renewed_subtask = coalesce(place.renewed_subtask, renewed_subtask);
  RETURN seen + renewed_count;
END
$$;
--> statement-breakpoint
CREATE VIEW muster_memory WITH (security_invoker = true) AS
  SELECT project_id, 'fact'::text AS kind, id, agent_id, search FROM facts
  UNION ALL
  SELECT project_id, 'episode'::text, subtask_id, agent_id, search FROM episode_words;
--> statement-breakpoint
GRANT SELECT ON muster_memory TO muster_definer;
--> statement-breakpoint
-- A query without the order of its words, by which the index finds candidates. A query that excludes words stays as it is: without the order it would
-- exclude more.
CREATE FUNCTION muster_without_order(query tsquery) RETURNS tsquery
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS
$$ SELECT CASE WHEN query::text ~ '!' THEN query ELSE regexp_replace(query::text, '<(-|\d+)>', '&', 'g')::tsquery END $$;
--> statement-breakpoint
-- Searches for entries with every word; without any, for those with one of `words`, the single words of a sentence. There, common words count only where no
-- others are found. At most the newest 2,000 entries are ranked: rare words are found by the index, and common ones soon, from the newest backwards. Words
-- that must follow each other may all be common, and rare in that order: they are searched in the newest 5,000 entries that have them in any order.
-- Planned for each search anew, because the better plan depends on its words.
CREATE FUNCTION muster_search_memory(wanted text, words text[], without text, of_kind text, of_agent text, most integer)
  RETURNS TABLE (kind text, id uuid, score real)
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET plan_cache_mode = force_custom_plan AS
$$
DECLARE
  ranked constant integer := 2000;
  looked constant integer := 5000;
  many constant integer := 100;
  project constant uuid := nullif(current_setting('muster.project_id', true), '')::uuid;
  query tsquery := websearch_to_tsquery('simple', wanted);
  barred constant tsquery := websearch_to_tsquery('simple', without);
  word text;
  one tsquery;
  loose tsquery;
  looked_now integer;
  found_count integer;
  rare tsquery;
  common tsquery;
BEGIN
  FOR attempt IN 1..2 LOOP
    loose := muster_without_order(query);
    looked_now := CASE WHEN loose::text = query::text THEN ranked ELSE looked END;
    RETURN QUERY
      SELECT f.kind, f.id, ts_rank_cd(f.search, query, 33) AS score FROM (
        SELECT n.kind, n.id, n.search FROM (
          SELECT m.kind, m.id, m.search FROM muster_memory m
          WHERE m.project_id = project AND m.search @@ loose AND (of_kind IS NULL OR m.kind = of_kind) AND (of_agent IS NULL OR m.agent_id = of_agent)
          ORDER BY m.id DESC LIMIT looked_now
        ) AS n
        WHERE n.search @@ query ORDER BY n.id DESC LIMIT ranked
      ) AS f
      ORDER BY 3 DESC, f.id DESC LIMIT most;
    EXIT WHEN FOUND OR attempt = 2;
    FOREACH word IN ARRAY words LOOP
      one := phraseto_tsquery('simple', word);
      CONTINUE WHEN numnode(one) = 0;
      loose := muster_without_order(one);
      looked_now := CASE WHEN numnode(one) = 1 THEN many ELSE ranked END;
      SELECT count(*) INTO found_count FROM (
        SELECT FROM (
          SELECT m.search FROM muster_memory m
          WHERE m.project_id = project AND m.search @@ loose AND (of_kind IS NULL OR m.kind = of_kind) AND (of_agent IS NULL OR m.agent_id = of_agent)
          LIMIT looked_now
        ) AS n
        WHERE n.search @@ one LIMIT many
      ) AS holders;
      IF found_count = many THEN
        common := coalesce(common || one, one);
      ELSIF found_count > 0 THEN
        rare := coalesce(rare || one, one);
      END IF;
    END LOOP;
    query := coalesce(rare, common);
    EXIT WHEN query IS NULL;
    IF numnode(barred) > 0 THEN
      query := query && barred;
    END IF;
  END LOOP;
END
$$;
--> statement-breakpoint

-- # Owners of functions, and rights on them

-- A function that looks across projects belongs to muster_definer, whose policies it uses. The owner of the tables keeps muster_ensure_partitions,
-- which creates tables.
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
ALTER FUNCTION muster_find_assignment_credential(uuid) OWNER TO muster_definer;
--> statement-breakpoint
ALTER FUNCTION muster_search_tasks(text, uuid, integer, text, text, text, text) OWNER TO muster_definer;
--> statement-breakpoint
ALTER FUNCTION muster_search_tsgs(text, text, text, timestamptz, text, integer) OWNER TO muster_definer;
--> statement-breakpoint
ALTER FUNCTION muster_remember_episodes(integer) OWNER TO muster_definer;
--> statement-breakpoint
ALTER FUNCTION muster_search_memory(text, text[], text, text, text, integer) OWNER TO muster_definer;
--> statement-breakpoint
REVOKE CREATE ON SCHEMA public FROM muster_definer;
--> statement-breakpoint
-- Everyone keeps only muster_now, for the defaults, and muster_tsg_words, which the index calls for each row that is written.
REVOKE EXECUTE ON FUNCTION
  muster_find_api_key(bytea), muster_find_subtask_credential(uuid), muster_find_assignment_credential(uuid),
  muster_ensure_partitions(), muster_analyze(), muster_system.check_writes(), muster_relay(integer),
  muster_search_tasks(text, uuid, integer, text, text, text, text), muster_search_tsgs(text, text, text, timestamptz, text, integer),
  muster_words(text), muster_body_beginning(bytea, integer), muster_episode_words(uuid, text, text, text, uuid), muster_remember_episodes(integer),
  muster_without_order(tsquery), muster_search_memory(text, text[], text, text, text, integer) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION
  muster_find_api_key(bytea), muster_find_subtask_credential(uuid), muster_find_assignment_credential(uuid), muster_system.check_writes(),
  muster_search_tasks(text, uuid, integer, text, text, text, text), muster_search_tsgs(text, text, text, timestamptz, text, integer),
  muster_search_memory(text, text[], text, text, text, integer) TO muster_app;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION
  muster_ensure_partitions(), muster_analyze(), muster_system.check_writes(), muster_relay(integer), muster_remember_episodes(integer) TO muster_dispatch;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION
  muster_words(text), muster_body_beginning(bytea, integer), muster_episode_words(uuid, text, text, text, uuid), muster_without_order(tsquery)
  TO muster_definer;
--> statement-breakpoint
SELECT muster_ensure_partitions();
