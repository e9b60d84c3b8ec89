-- Takes the next ends of subtasks into memory, in the order of the log, which misses none: row ids and times would, where transactions overlap. With
-- what the log leaves of `most`, finds the words of older episodes anew, in the order of the primary key: on a busy server the log has something at every
-- look, and they would never be reached. One process at a time. Answers how many events and episodes it has read; with less than `most` there are no more,
-- or another process is at it.
CREATE OR REPLACE FUNCTION muster_remember_episodes(most integer) RETURNS integer
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
