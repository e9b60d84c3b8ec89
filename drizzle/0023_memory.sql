CREATE TABLE "episode_words" (
	"project_id" uuid NOT NULL,
	"subtask_id" uuid NOT NULL,
	"agent_id" text NOT NULL,
	"search" "tsvector" NOT NULL,
	CONSTRAINT "episode_words_project_id_subtask_id_pk" PRIMARY KEY("project_id","subtask_id")
);
--> statement-breakpoint
CREATE INDEX "episode_words_search" ON "episode_words" USING gin ("search") WITH (gin_pending_list_limit=1024);--> statement-breakpoint
ALTER TABLE episode_words ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE episode_words FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY project ON episode_words TO muster_app USING (project_id = nullif(current_setting('muster.project_id', true), '')::uuid);
--> statement-breakpoint
-- What is forgotten leaves no words behind. To look for some is for the function below alone.
GRANT SELECT (project_id, subtask_id), DELETE ON episode_words TO muster_app;
--> statement-breakpoint
-- Once forgotten, and forgotten it stays; a fact is not rewritten, but deleted and learnt anew.
REVOKE UPDATE, DELETE ON forgotten_episodes FROM muster_app;
--> statement-breakpoint
REVOKE UPDATE ON facts FROM muster_app;
--> statement-breakpoint
CREATE POLICY definer ON episode_words TO muster_definer USING (true);
--> statement-breakpoint
CREATE POLICY definer ON facts FOR SELECT TO muster_definer USING (true);
--> statement-breakpoint
CREATE POLICY definer ON forgotten_episodes FOR SELECT TO muster_definer USING (true);
--> statement-breakpoint
CREATE POLICY definer ON events FOR SELECT TO muster_definer USING (true);
--> statement-breakpoint
CREATE POLICY definer ON bodies FOR SELECT TO muster_definer USING (true);
--> statement-breakpoint
GRANT SELECT, INSERT ON episode_words TO muster_definer;
--> statement-breakpoint
GRANT SELECT ON facts, forgotten_episodes, events, bodies TO muster_definer;
--> statement-breakpoint
-- How common a word is decides by which index it is looked for; a sample of the usual size would not know of enough words.
ALTER TABLE episode_words ALTER COLUMN search SET STATISTICS 100;
--> statement-breakpoint
ALTER TABLE facts ALTER COLUMN search SET STATISTICS 100;
--> statement-breakpoint
-- Up to which place of the log the ends of subtasks have been taken into memory. One row.
CREATE TABLE muster_system.memory (read_seq bigint NOT NULL);
--> statement-breakpoint
INSERT INTO muster_system.memory (read_seq) VALUES (0);
--> statement-breakpoint
GRANT SELECT, UPDATE ON muster_system.memory TO muster_definer;
--> statement-breakpoint
-- The beginning of a stored body as text. A body is cut in front of a whole character; one that is no text, against all expectation, has no
-- words, and holds nothing up.
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
-- Takes the next ends of subtasks into memory, in the order of the log, which misses none: row ids and times would, where transactions overlap.
-- One process at a time. Answers how many events it has read; with less than `most` there are no more, or somebody else is at it.
CREATE FUNCTION muster_remember_episodes(most integer) RETURNS integer
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET plan_cache_mode = force_custom_plan AS
$$
DECLARE
  last_seq bigint;
  next_seq bigint;
  seen integer;
  ended uuid[];
BEGIN
  IF NOT pg_try_advisory_xact_lock(7300, 2) THEN
    RETURN 0;
  END IF;
  SELECT read_seq INTO last_seq FROM muster_system.memory;
  SELECT count(*), max(e.seq), array_agg(e.subject_id) FILTER (WHERE e.type IN ('subtask.completed', 'subtask.failed', 'subtask.cancelled'))
    INTO seen, next_seq, ended
    FROM (SELECT seq, type, subject_id FROM events WHERE seq > last_seq ORDER BY seq LIMIT most) AS e;
  IF seen = 0 THEN
    RETURN 0;
  END IF;
  INSERT INTO episode_words (project_id, subtask_id, agent_id, search)
    SELECT s.project_id, s.id, s.agent_id, to_tsvector('simple', concat_ws(' ', left(s.task, 8000), left(s.summary, 2000),
      left(coalesce(s.result, (SELECT muster_body_beginning(b.bytes, 32000) FROM bodies b WHERE b.project_id = s.project_id AND b.id = s.result_body_id)), 8000)))
    FROM subtasks s
    WHERE s.id = ANY(ended) AND s.status IN ('completed', 'failed', 'cancelled')
      AND NOT EXISTS (SELECT FROM forgotten_episodes f WHERE f.project_id = s.project_id AND f.subtask_id = s.id)
    ON CONFLICT DO NOTHING;
  UPDATE muster_system.memory SET read_seq = next_seq;
  RETURN seen;
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
-- Looks for itself, in the project of the transaction alone, because full-text operators are not leakproof. First for what has every word; where
-- nothing has, for what has any of `words`, which are those of a sentence one by one: those that many have count only where there are no others.
-- However common words are, no more than the newest 2,000 that have them are ranked: of rare ones the index knows where they are, and common
-- ones are soon found from the newest backwards. Planned for each search anew, since what is the better way depends on its words.
CREATE FUNCTION muster_search_memory(wanted text, words text[], without text, of_kind text, of_agent text, most integer)
  RETURNS TABLE (kind text, id uuid, score real)
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET plan_cache_mode = force_custom_plan AS
$$
DECLARE
  ranked constant integer := 2000;
  many constant integer := 100;
  project constant uuid := nullif(current_setting('muster.project_id', true), '')::uuid;
  query tsquery := websearch_to_tsquery('simple', wanted);
  barred constant tsquery := websearch_to_tsquery('simple', without);
  word text;
  one tsquery;
  found_count integer;
  rare tsquery;
  common tsquery;
BEGIN
  FOR attempt IN 1..2 LOOP
    RETURN QUERY
      SELECT f.kind, f.id, ts_rank_cd(f.search, query, 33) AS score FROM (
        SELECT m.kind, m.id, m.search FROM muster_memory m
        WHERE m.project_id = project AND m.search @@ query AND (of_kind IS NULL OR m.kind = of_kind) AND (of_agent IS NULL OR m.agent_id = of_agent)
        ORDER BY m.id DESC LIMIT ranked
      ) AS f
      ORDER BY 3 DESC, f.id DESC LIMIT most;
    EXIT WHEN FOUND OR attempt = 2;
    FOREACH word IN ARRAY words LOOP
      one := phraseto_tsquery('simple', word);
      CONTINUE WHEN numnode(one) = 0;
      SELECT count(*) INTO found_count FROM (
        SELECT FROM muster_memory m
        WHERE m.project_id = project AND m.search @@ one AND (of_kind IS NULL OR m.kind = of_kind) AND (of_agent IS NULL OR m.agent_id = of_agent)
        LIMIT many
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
GRANT CREATE ON SCHEMA public TO muster_definer;
--> statement-breakpoint
ALTER FUNCTION muster_remember_episodes(integer) OWNER TO muster_definer;
--> statement-breakpoint
ALTER FUNCTION muster_search_memory(text, text[], text, text, text, integer) OWNER TO muster_definer;
--> statement-breakpoint
REVOKE CREATE ON SCHEMA public FROM muster_definer;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION muster_body_beginning(bytea, integer), muster_remember_episodes(integer),
  muster_search_memory(text, text[], text, text, text, integer) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_body_beginning(bytea, integer) TO muster_definer;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_remember_episodes(integer) TO muster_dispatch;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_search_memory(text, text[], text, text, text, integer) TO muster_app;
