-- Words are parted at all punctuation of ASCII, in memory and in questions alike, so that a part of a path, a name or an address finds it. The parser
-- of PostgreSQL keeps such a name as one word.
CREATE FUNCTION muster_words(words text) RETURNS tsvector
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS
$$ SELECT to_tsvector('simple', translate(words, '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', repeat(' ', 32))) $$;
--> statement-breakpoint
-- What stands generated cannot be changed in place before PostgreSQL 17. The view is of the column, and comes back below.
DROP VIEW muster_memory;
--> statement-breakpoint
ALTER TABLE "facts" DROP COLUMN "search";
--> statement-breakpoint
ALTER TABLE "facts" ADD COLUMN "search" "tsvector" GENERATED ALWAYS AS (to_tsvector('simple', translate(left(content, 20000), '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', repeat(' ', 32)))) STORED;
--> statement-breakpoint
CREATE INDEX "facts_search" ON "facts" USING gin ("search");
--> statement-breakpoint
ALTER TABLE facts ALTER COLUMN search SET STATISTICS 100;
--> statement-breakpoint
CREATE VIEW muster_memory WITH (security_invoker = true) AS
  SELECT project_id, 'fact'::text AS kind, id, agent_id, search FROM facts
  UNION ALL
  SELECT project_id, 'episode'::text, subtask_id, agent_id, search FROM episode_words;
--> statement-breakpoint
GRANT SELECT ON muster_memory TO muster_definer;
--> statement-breakpoint
-- How far the words of episodes from before have been found anew; `is_renewed` once all have.
ALTER TABLE muster_system.memory ADD COLUMN is_renewed boolean NOT NULL DEFAULT false, ADD COLUMN renewed_project uuid, ADD COLUMN renewed_subtask uuid;
--> statement-breakpoint
GRANT UPDATE ON episode_words TO muster_definer;
--> statement-breakpoint
-- The words of an episode, from the columns of its subtask.
CREATE FUNCTION muster_episode_words(project uuid, task text, summary text, result text, result_body uuid) RETURNS tsvector
  LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS
$$
  SELECT muster_words(concat_ws(' ', left(task, 8000), left(summary, 2000),
    left(coalesce(result, (SELECT muster_body_beginning(b.bytes, 32000) FROM bodies b WHERE b.project_id = project AND b.id = result_body)), 8000)))
$$;
--> statement-breakpoint
-- Takes the next ends of subtasks into memory, in the order of the log, which misses none: row ids and times would, where transactions overlap. Where
-- the log has none, finds the words of as many older episodes anew, in the order of the primary key. One process at a time. Answers how many events or
-- episodes it has read; with less than `most` there are no more, or another process is at it.
CREATE OR REPLACE FUNCTION muster_remember_episodes(most integer) RETURNS integer
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET plan_cache_mode = force_custom_plan AS
$$
DECLARE
  place muster_system.memory;
  next_seq bigint;
  seen integer;
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
    RETURN seen;
  END IF;
  IF place.is_renewed THEN
    RETURN 0;
  END IF;
  WITH old AS (
    SELECT w.project_id, w.subtask_id FROM episode_words w
    WHERE place.renewed_project IS NULL OR (w.project_id, w.subtask_id) > (place.renewed_project, place.renewed_subtask)
    ORDER BY w.project_id, w.subtask_id LIMIT most
  ), renewed AS (
    UPDATE episode_words w SET search = muster_episode_words(s.project_id, s.task, s.summary, s.result, s.result_body_id)
    FROM old JOIN subtasks s ON s.id = old.subtask_id AND s.project_id = old.project_id
    WHERE w.project_id = old.project_id AND w.subtask_id = old.subtask_id
  )
  SELECT count(*), (array_agg(old.project_id ORDER BY old.project_id DESC, old.subtask_id DESC))[1],
      (array_agg(old.subtask_id ORDER BY old.project_id DESC, old.subtask_id DESC))[1]
    INTO seen, place.renewed_project, place.renewed_subtask FROM old;
  UPDATE muster_system.memory SET is_renewed = seen < most,
    renewed_project = coalesce(place.renewed_project, renewed_project), renewed_subtask = coalesce(place.renewed_subtask, renewed_subtask);
  RETURN seen;
END
$$;
--> statement-breakpoint
-- The words of a question without their order, by which the index finds what may have them in it. One that excludes words is left as it is:
-- without its order it would exclude more.
CREATE FUNCTION muster_without_order(query tsquery) RETURNS tsquery
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS
$$ SELECT CASE WHEN query::text ~ '!' THEN query ELSE regexp_replace(query::text, '<(-|\d+)>', '&', 'g')::tsquery END $$;
--> statement-breakpoint
-- Looks for itself, in the project of the transaction alone, because full-text operators are not leakproof. First for what has every word; where
-- nothing has, for what has any of `words`, which are those of a sentence one by one: those that many have count only where there are no others.
-- However common words are, no more than the newest 2,000 that have them are ranked: of rare ones the index knows where they are, and common
-- ones are soon found from the newest backwards. Words that must follow each other may all be common, and rare in that order: they are looked for
-- in the newest 5,000 that have them in any order. Planned for each search anew, since what is the better way depends on its words.
CREATE OR REPLACE FUNCTION muster_search_memory(wanted text, words text[], without text, of_kind text, of_agent text, most integer)
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
REVOKE EXECUTE ON FUNCTION muster_words(text), muster_episode_words(uuid, text, text, text, uuid), muster_without_order(tsquery) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_words(text), muster_episode_words(uuid, text, text, text, uuid), muster_without_order(tsquery) TO muster_definer;
