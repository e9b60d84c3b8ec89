-- live: no: writes to evaluations and subtasks wait while four indexes over few of their rows are made
CREATE INDEX "evaluations_by_message" ON "evaluations" USING btree ("project_id","message_id") WHERE message_id is not null;--> statement-breakpoint
CREATE INDEX "evaluations_of_requests" ON "evaluations" USING btree ("id") WHERE subtask_id is null and task_id is null and message_id is null;--> statement-breakpoint
CREATE INDEX "subtasks_by_revised" ON "subtasks" USING btree ("revision_of") WHERE revision_of is not null;--> statement-breakpoint
CREATE INDEX "subtasks_by_resumed" ON "subtasks" USING btree ("resume_of") WHERE resume_of is not null;
--> statement-breakpoint
-- What of the log each project has lost: its readers may not go on from before that place.
CREATE TABLE muster_system.pruned_events (project_id uuid PRIMARY KEY, through_seq bigint NOT NULL);
--> statement-breakpoint
GRANT SELECT ON muster_system.pruned_events TO muster_app, muster_dispatch;
--> statement-breakpoint
-- How far a partition has been archived, how often it was replaced by one with the rows that stay, and when it was last looked at.
ALTER TABLE muster_system.partitions ADD COLUMN archived_place tid, ADD COLUMN is_archived boolean NOT NULL DEFAULT false,
  ADD COLUMN generation integer NOT NULL DEFAULT 0, ADD COLUMN looked_at timestamptz;
--> statement-breakpoint
-- The range of a partition as a condition on the rows x of its parent, with constants, so that a statement locks this partition alone.
CREATE FUNCTION muster_system.range_of(part muster_system.partitions) RETURNS text LANGUAGE sql STABLE AS
$$
  SELECT CASE part.parent
    WHEN 'events' THEN format('x.seq >= %s AND x.seq < %s', part.from_key, part.to_key)
    ELSE format('x.at >= %L AND x.at < %L', to_timestamp(part.from_key), to_timestamp(part.to_key)) END
$$;
--> statement-breakpoint
-- For how many days a project p keeps a kind, as an expression; `otherwise` where it says nothing.
CREATE FUNCTION muster_system.days_of(kind text, otherwise integer) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT format('coalesce((p.settings -> ''retention_days'' ->> %L)::int, %s)', kind, otherwise) $$;
--> statement-breakpoint
-- Which rows x of a partition of a project p stay: those that the project keeps for longer, and the transcripts of what has not ended, of what is flagged, and of
-- what a subtask that has not ended goes on from.
CREATE FUNCTION muster_system.keeps(parent text, otherwise integer) RETURNS text LANGUAGE sql IMMUTABLE AS
$$
  SELECT format('(x.at >= muster_now() - make_interval(days => %s)', muster_system.days_of(parent, otherwise)) || CASE parent WHEN 'events' THEN ')' ELSE
    ' OR EXISTS (SELECT FROM subtasks s WHERE s.id = x.subtask_id AND (s.completed_at IS NULL'
    ' OR EXISTS (SELECT FROM quality_flags f WHERE f.project_id = s.project_id AND f.subject_kind = ''subtask'' AND f.subject_id = s.id)'
    ' OR EXISTS (SELECT FROM quality_flags f WHERE f.project_id = s.project_id AND f.subject_kind = ''task'' AND f.subject_id = s.task_id)'
    ' OR EXISTS (SELECT FROM subtasks n WHERE n.revision_of = s.id AND n.completed_at IS NULL)'
    ' OR EXISTS (SELECT FROM subtasks n WHERE n.resume_of = s.id AND n.completed_at IS NULL))))' END
$$;
--> statement-breakpoint
-- Partitions in which everything is older than the server keeps it, oldest first. One that was replaced by what stays is looked at again after a day.
CREATE FUNCTION muster_due_partitions(events_days integer, steps_days integer)
  RETURNS TABLE (name text, parent text, is_archived boolean, archived_place tid, rows_about bigint, bytes bigint)
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS
$$
DECLARE
  part muster_system.partitions;
  last_seq bigint := (SELECT last_value FROM muster_system.event_seq);
  newest timestamptz;
BEGIN
  FOR part IN SELECT * FROM muster_system.partitions p WHERE p.looked_at IS NULL OR p.looked_at < muster_now() - interval '1 day' ORDER BY p.parent, p.from_key LOOP
    IF part.parent = 'steps' THEN
      CONTINUE WHEN to_timestamp(part.to_key) > muster_now() - make_interval(days => steps_days);
    ELSE
      -- Not what is still written to, and not what memory has yet to read.
      CONTINUE WHEN part.to_key > last_seq OR part.to_key - 1 > (SELECT read_seq FROM muster_system.memory);
      EXECUTE format('SELECT at FROM events x WHERE %s ORDER BY seq DESC LIMIT 1', muster_system.range_of(part)) INTO newest;
      CONTINUE WHEN newest > muster_now() - make_interval(days => events_days);
    END IF;
    SELECT greatest(c.reltuples, 0)::bigint, pg_total_relation_size(c.oid) INTO rows_about, bytes FROM pg_class c WHERE c.oid = format('public.%I', part.name)::regclass;
    name := part.name;
    parent := part.parent;
    is_archived := part.is_archived;
    archived_place := part.archived_place;
    RETURN NEXT;
  END LOOP;
END
$$;
--> statement-breakpoint
-- The next rows of a partition after a place in it.
CREATE FUNCTION muster_partition_rows(wanted text, after tid, most integer) RETURNS TABLE (place tid, line text)
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET enable_seqscan = off AS
$$
DECLARE
  part muster_system.partitions;
BEGIN
  SELECT * INTO part FROM muster_system.partitions p WHERE p.name = wanted;
  -- So many blocks at a time that sorting them costs little. The next ones, while these hold nothing.
  FOR block IN (after::text::point)[0]::bigint .. pg_relation_size(format('public.%I', wanted)::regclass) / 8192 BY 128 LOOP
    RETURN QUERY EXECUTE format('SELECT x.ctid, to_jsonb(x)::text FROM %I x WHERE %s AND x.ctid > $1 AND x.ctid < %L ORDER BY x.ctid LIMIT $2',
      part.parent, muster_system.range_of(part), format('(%s,0)', block + 128)) USING after, most;
    EXIT WHEN FOUND;
  END LOOP;
END
$$;
--> statement-breakpoint
CREATE FUNCTION muster_note_archived(wanted text, through tid, complete boolean) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS
$$ UPDATE muster_system.partitions SET archived_place = coalesce(through, archived_place), is_archived = complete WHERE name = wanted $$;
--> statement-breakpoint
-- Drops a partition, or replaces it by one with the rows that stay. All of it or nothing. The parent is locked only for the exchange, and for no longer than
-- 100 ms are readers made to wait for it: beside a dump it fails, and is to be tried again later.
CREATE FUNCTION muster_drop_partition(wanted text, otherwise integer) RETURNS TABLE (kept bigint, is_changed boolean)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '100ms' AS
$$
DECLARE
  part muster_system.partitions;
  rest text;
  range text;
  keeps text;
  had bigint;
BEGIN
  SELECT * INTO part FROM muster_system.partitions p WHERE p.name = wanted FOR UPDATE;
  IF part IS NULL THEN
    RETURN;
  END IF;
  range := muster_system.range_of(part);
  keeps := muster_system.keeps(part.parent, otherwise);
  rest := format('%s_rest_%s_%s', part.parent, part.from_key, part.generation + 1);
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES INCLUDING STORAGE INCLUDING COMPRESSION)', rest, part.parent);
  EXECUTE format('INSERT INTO %I SELECT x.* FROM %I x JOIN projects p ON p.id = x.project_id WHERE %s AND %s', rest, part.parent, range, keeps);
  GET DIAGNOSTICS kept = ROW_COUNT;
  is_changed := true;
  IF kept > 0 THEN
    EXECUTE format('SELECT count(*) FROM %I x WHERE %s', part.parent, range) INTO had;
    IF had = kept THEN
      EXECUTE format('DROP TABLE %I', rest);
      UPDATE muster_system.partitions SET looked_at = muster_now() WHERE name = wanted;
      is_changed := false;
      RETURN NEXT;
      RETURN;
    END IF;
    -- Known to hold, so that attaching it need not read the rows under the lock.
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT rest_range CHECK (%s)', rest, replace(range, 'x.', ''));
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', rest);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', rest);
  END IF;
  IF part.parent = 'events' THEN
    EXECUTE format('INSERT INTO muster_system.pruned_events AS m SELECT x.project_id, max(x.seq) FROM events x JOIN projects p ON p.id = x.project_id
      WHERE %s AND NOT %s GROUP BY 1 ON CONFLICT (project_id) DO UPDATE SET through_seq = greatest(m.through_seq, excluded.through_seq)', range, keeps);
  END IF;
  EXECUTE format('LOCK TABLE ONLY %I IN ACCESS EXCLUSIVE MODE', part.parent);
  EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', part.parent, part.name);
  EXECUTE format('DROP TABLE %I', part.name);
  IF kept = 0 THEN
    EXECUTE format('DROP TABLE %I', rest);
    DELETE FROM muster_system.partitions WHERE name = wanted;
  ELSE
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', part.parent, rest,
      CASE part.parent WHEN 'steps' THEN to_timestamp(part.from_key)::text ELSE part.from_key::text END,
      CASE part.parent WHEN 'steps' THEN to_timestamp(part.to_key)::text ELSE part.to_key::text END);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT rest_range', rest);
    UPDATE muster_system.partitions
      SET name = rest, generation = part.generation + 1, looked_at = muster_now(), archived_place = NULL, is_archived = false WHERE name = wanted;
  END IF;
  RETURN NEXT;
END
$$;
--> statement-breakpoint
-- The oldest rows of a project that are older than it keeps them, in partitions that have others to keep: of a project that keeps less than the server does, and in the
-- oldest partition of a log that grows slowly. Of one partition at a time. `removes` deletes what the same call would return.
CREATE FUNCTION muster_expired_rows(of_parent text, of_project uuid, keep_days integer, most integer, removes boolean) RETURNS TABLE (line text)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS
$$
DECLARE
  part muster_system.partitions;
  cut timestamptz := muster_now() - make_interval(days => keep_days);
  rows_found text;
  last_seq bigint;
  was_found boolean;
BEGIN
  FOR part IN SELECT * FROM muster_system.partitions p WHERE p.parent = of_parent ORDER BY p.from_key LOOP
    EXIT WHEN of_parent = 'steps' AND to_timestamp(part.from_key) > cut;
    EXIT WHEN of_parent = 'events' AND part.from_key > (SELECT read_seq FROM muster_system.memory);
    rows_found := format('SELECT x.ctid FROM %I x JOIN projects p ON p.id = x.project_id WHERE %s AND x.project_id = %L AND x.at < %L AND NOT %s ORDER BY %s LIMIT %s',
      of_parent, muster_system.range_of(part), of_project, cut, muster_system.keeps(of_parent, keep_days),
      CASE of_parent WHEN 'events' THEN 'x.seq' ELSE 'x.project_id, x.subtask_id, x.seq' END, most);
    IF removes THEN
      IF of_parent = 'events' THEN
        EXECUTE format('SELECT max(x.seq) FROM events x WHERE %s AND x.ctid = ANY(ARRAY(%s))', muster_system.range_of(part), rows_found) INTO last_seq;
        INSERT INTO muster_system.pruned_events AS m SELECT of_project, last_seq WHERE last_seq IS NOT NULL
          ON CONFLICT (project_id) DO UPDATE SET through_seq = greatest(m.through_seq, excluded.through_seq);
      END IF;
      RETURN QUERY EXECUTE format('DELETE FROM %I x WHERE %s AND x.ctid = ANY(ARRAY(%s)) RETURNING NULL::text', of_parent, muster_system.range_of(part), rows_found);
    ELSE
      RETURN QUERY EXECUTE format('SELECT to_jsonb(x)::text FROM %I x WHERE %s AND x.ctid = ANY(ARRAY(%s))', of_parent, muster_system.range_of(part), rows_found);
    END IF;
    EXIT WHEN FOUND;
  END LOOP;
END
$$;
--> statement-breakpoint
-- What a project keeps for less time than the server, of the two partitioned tables; and all projects, if the oldest partition of the log reaches back by more than
-- a day beyond what is kept, as it does where few events come.
CREATE FUNCTION muster_early_projects(of_parent text, otherwise integer) RETURNS TABLE (project_id uuid, days integer)
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS
$$
DECLARE
  part muster_system.partitions;
  oldest timestamptz;
BEGIN
  IF of_parent = 'events' THEN
    FOR part IN SELECT * FROM muster_system.partitions p WHERE p.parent = 'events' AND p.generation = 0 ORDER BY p.from_key LOOP
      EXECUTE format('SELECT at FROM events x WHERE %s ORDER BY seq LIMIT 1', muster_system.range_of(part)) INTO oldest;
      EXIT WHEN oldest IS NOT NULL;
    END LOOP;
  END IF;
  RETURN QUERY EXECUTE format('SELECT p.id, %1$s FROM projects p WHERE %1$s < $1 OR $2 ORDER BY 1', muster_system.days_of(of_parent, otherwise))
    USING otherwise, coalesce(oldest < muster_now() - make_interval(days => otherwise + 1), false);
END
$$;
--> statement-breakpoint
-- The kind of retention_days that rows of a noun are kept by.
CREATE FUNCTION muster_system.kind_of(noun text) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE noun WHEN 'deliveries' THEN 'deliveries' WHEN 'inbox' THEN 'inbox' WHEN 'injection_claims' THEN 'inbox' WHEN 'session_messages' THEN 'messages' ELSE 'subtasks' END $$;
--> statement-breakpoint
-- Whether the time is over for which a project p keeps a row x of a noun, and nothing that lives needs it, as an expression.
CREATE FUNCTION muster_system.is_expired(noun text, otherwise integer) RETURNS text LANGUAGE plpgsql IMMUTABLE AS
$$
DECLARE
  over text := format('< muster_now() - make_interval(days => %s)', muster_system.days_of(muster_system.kind_of(noun), otherwise));
BEGIN
  RETURN CASE noun
    WHEN 'inbox' THEN format('x.delivered_at %s', over)
    WHEN 'deliveries' THEN format('x.ended_at %s', over)
    WHEN 'injection_claims' THEN format('coalesce(x.acknowledged_at, x.replaced_at) %s', over)
    WHEN 'session_messages' THEN format('x.created_at %s AND x.quality_flag IS NULL AND NOT x.training_candidate'
      ' AND NOT EXISTS (SELECT FROM tasks t WHERE t.id = x.task_id AND t.completed_at IS NULL)'
      ' AND NOT EXISTS (SELECT FROM quality_flags f WHERE f.project_id = x.project_id AND f.subject_kind = ''task'' AND f.subject_id = x.task_id)', over)
    WHEN 'evaluations' THEN format('x.created_at %s AND x.subtask_id IS NULL AND x.task_id IS NULL AND x.message_id IS NULL'
      ' AND NOT EXISTS (SELECT FROM judgements j WHERE j.project_id = x.project_id AND j.evaluation_id = x.id AND j.ended_at IS NULL)', over)
    WHEN 'schedule_slots' THEN format('x.slot %s AND x.outcome <> ''waiting'' AND x.subtask_id IS NULL', over)
    WHEN 'subtasks' THEN format('x.completed_at %s'
      ' AND NOT EXISTS (SELECT FROM tasks t WHERE t.id = x.task_id AND t.completed_at IS NULL)'
      ' AND NOT EXISTS (SELECT FROM subtasks n WHERE n.revision_of = x.id)'
      ' AND NOT EXISTS (SELECT FROM subtasks n WHERE n.resume_of = x.id)'
      ' AND NOT EXISTS (SELECT FROM quality_flags f WHERE f.project_id = x.project_id AND f.subject_kind = ''subtask'' AND f.subject_id = x.id)'
      ' AND NOT EXISTS (SELECT FROM quality_flags f WHERE f.project_id = x.project_id AND f.subject_kind = ''task'' AND f.subject_id = x.task_id)'
      ' AND NOT EXISTS (SELECT FROM evaluations e JOIN judgements j ON j.project_id = e.project_id AND j.evaluation_id = e.id'
      '   WHERE e.project_id = x.project_id AND e.subtask_id = x.id AND j.ended_at IS NULL)'
      -- The last run of a schedule that still fires.
      ' AND NOT EXISTS (SELECT FROM schedules c WHERE c.id = x.schedule_id AND c.state IN (''active'', ''paused'')'
      '   AND NOT EXISTS (SELECT FROM subtasks n WHERE n.project_id = x.project_id AND n.schedule_id = x.schedule_id AND n.id > x.id))', over)
  END;
END
$$;
--> statement-breakpoint
-- Rows of other tables, in the order of their ids, and whether the time is over for which their projects keep them. `kind` is one of retention_days. Ids begin with
-- the time at which they were made, so the search ends where rows are younger than any project keeps them; clocks may be a day apart.
CREATE FUNCTION muster_expired(noun text, otherwise integer, after uuid, most integer) RETURNS TABLE (id uuid, project_id uuid, is_expired boolean)
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS
$$
DECLARE
  least_days integer;
  floor_id uuid;
  kind text := muster_system.kind_of(noun);
BEGIN
  EXECUTE format('SELECT least(min(%s), $1) FROM projects p', muster_system.days_of(kind, otherwise)) INTO least_days USING otherwise;
  floor_id := (lpad(to_hex(floor(extract(epoch FROM muster_now() - make_interval(days => least_days - 1)) * 1000)::bigint), 12, '0') || '7fff' || repeat('f', 16))::uuid;
  RETURN QUERY EXECUTE format('SELECT x.id, x.project_id, coalesce(%s, false) FROM (
      SELECT * FROM %I WHERE id > $1 AND id < $2 AND %s ORDER BY id LIMIT $3
    ) AS x JOIN projects p ON p.id = x.project_id ORDER BY x.id', muster_system.is_expired(noun, otherwise), noun,
    -- Those of a request that names nothing else, by an index of their own. The others go with their subtask, their message or their task.
    CASE noun WHEN 'evaluations' THEN 'subtask_id IS NULL AND task_id IS NULL AND message_id IS NULL' ELSE 'true' END) USING after, floor_id, most;
END
$$;
--> statement-breakpoint
-- Returns the rows that belong to some rows of a noun in the project of the transaction, these included, as JSON; `removes` deletes them. With `otherwise`, only those whose time is over,
-- as in muster_expired: one may have been flagged since. One list of what belongs
-- together, for what expires, for erasing and for exporting, so that neither leaves a row that nothing names.
CREATE FUNCTION muster_take(noun text, ids uuid[], removes boolean, otherwise integer) RETURNS TABLE (name text, line text)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS
$$
DECLARE
  own uuid := nullif(current_setting('muster.project_id', true), '')::uuid;
  belonging text[][];
  made timestamptz;
  ended timestamptz;
BEGIN
  IF otherwise IS NOT NULL THEN
    EXECUTE format('SELECT array_agg(x.id) FROM (SELECT * FROM %I WHERE project_id = $2 AND id = ANY($1) FOR UPDATE) AS x JOIN projects p ON p.id = x.project_id WHERE %s',
      noun, muster_system.is_expired(noun, otherwise)) INTO ids USING ids, own;
  END IF;
  belonging := CASE noun
    WHEN 'inbox' THEN ARRAY[ARRAY['inbox', 'x.id = ANY($1)']]
    WHEN 'injection_claims' THEN ARRAY[ARRAY['injection_claims', 'x.id = ANY($1)']]
    WHEN 'deliveries' THEN ARRAY[ARRAY['deliveries', 'x.id = ANY($1)']]
    WHEN 'schedule_slots' THEN ARRAY[ARRAY['schedule_slots', 'x.id = ANY($1)']]
    WHEN 'evaluations' THEN ARRAY[
      ARRAY['bodies', 'x.id IN (SELECT e.output_body_id FROM evaluations e WHERE e.project_id = $2 AND e.id = ANY($1))'],
      ARRAY['judgements', 'x.evaluation_id = ANY($1)'],
      ARRAY['evaluations', 'x.id = ANY($1)']]
    WHEN 'session_messages' THEN ARRAY[
      ARRAY['bodies', 'x.id IN (SELECT m.body_id FROM session_messages m WHERE m.id = ANY($1)
        UNION ALL SELECT e.output_body_id FROM evaluations e WHERE e.project_id = $2 AND e.message_id = ANY($1))'],
      ARRAY['judgements', 'x.evaluation_id IN (SELECT e.id FROM evaluations e WHERE e.project_id = $2 AND e.message_id = ANY($1))'],
      ARRAY['evaluations', 'x.message_id = ANY($1)'],
      ARRAY['session_messages', 'x.id = ANY($1)']]
    WHEN 'subtasks' THEN ARRAY[
      ARRAY['bodies', 'x.id IN (SELECT unnest(ARRAY[s.result_body_id, s.continuation_body_id]) FROM subtasks s WHERE s.id = ANY($1)
        UNION ALL SELECT e.output_body_id FROM evaluations e WHERE e.project_id = $2 AND e.subtask_id = ANY($1))'],
      ARRAY['judgements', 'x.evaluation_id IN (SELECT e.id FROM evaluations e WHERE e.project_id = $2 AND e.subtask_id = ANY($1))'],
      ARRAY['evaluations', 'x.subtask_id = ANY($1)'],
      ARRAY['deliveries', 'x.receiver_id IN (SELECT r.id FROM receivers r WHERE r.project_id = $2 AND r.kind = ''callback'' AND r.subject_id = ANY($1))'],
      ARRAY['receivers', 'x.kind = ''callback'' AND x.subject_id = ANY($1)'],
      ARRAY['attempts', 'x.subtask_id = ANY($1)'],
      ARRAY['updates', 'x.subtask_id = ANY($1)'],
      ARRAY['inbox', 'x.subtask_id = ANY($1)'],
      ARRAY['inbox', 'x.delivered_at IS NULL AND (x.session_id, x.question_id) IN (SELECT q.session_id, q.id FROM questions q WHERE q.project_id = $2 AND q.subtask_id = ANY($1))'],
      ARRAY['questions', 'x.subtask_id = ANY($1)'],
      ARRAY['episode_words', 'x.subtask_id = ANY($1)'],
      ARRAY['forgotten_episodes', 'x.subtask_id = ANY($1)'],
      ARRAY['quality_flags', 'x.subject_kind = ''subtask'' AND x.subject_id = ANY($1)'],
      ARRAY['schedule_slots', 'x.schedule_id IN (SELECT s.schedule_id FROM subtasks s WHERE s.id = ANY($1)) AND x.subtask_id = ANY($1)'],
      ARRAY['subtasks', 'x.id = ANY($1)']]
    WHEN 'tasks' THEN ARRAY[
      ARRAY['bodies', 'x.id IN (SELECT e.output_body_id FROM evaluations e WHERE e.project_id = $2 AND e.task_id = ANY($1))'],
      ARRAY['judgements', 'x.evaluation_id IN (SELECT e.id FROM evaluations e WHERE e.project_id = $2 AND e.task_id = ANY($1))'],
      ARRAY['evaluations', 'x.task_id = ANY($1)'],
      ARRAY['deliveries', 'x.receiver_id IN (SELECT r.id FROM receivers r WHERE r.project_id = $2 AND r.kind = ''callback'' AND r.subject_id = ANY($1))'],
      ARRAY['receivers', 'x.kind = ''callback'' AND x.subject_id = ANY($1)'],
      ARRAY['updates', 'x.task_id = ANY($1)'],
      ARRAY['inbox', 'x.task_id = ANY($1)'],
      ARRAY['inbox', 'x.question_id IN (SELECT q.id FROM questions q WHERE q.project_id = $2 AND q.task_id = ANY($1))'],
      ARRAY['questions', 'x.task_id = ANY($1)'],
      ARRAY['check_ins', 'x.task_id = ANY($1)'],
      ARRAY['check_runs', 'x.task_id = ANY($1)'],
      ARRAY['assignments', 'x.task_id = ANY($1)'],
      ARRAY['hook_reservations', 'x.task_id = ANY($1)'],
      ARRAY['task_tsgs', 'x.task_id = ANY($1)'],
      ARRAY['task_dependencies', 'x.task_id = ANY($1) OR x.depends_on_id = ANY($1)'],
      ARRAY['task_revisions', 'x.task_id = ANY($1)'],
      ARRAY['quality_flags', 'x.subject_kind = ''task'' AND x.subject_id = ANY($1)'],
      ARRAY['tasks', 'x.id = ANY($1)']]
  END;
  IF belonging IS NULL THEN
    RAISE EXCEPTION 'muster_take does not know %', noun;
  END IF;
  IF otherwise IS NULL AND noun IN ('subtasks', 'tasks') THEN
    -- What was sent of them. Where they expire, that has expired before, or soon will.
    belonging := ARRAY[ARRAY['deliveries', 'x.subject_id = ANY($1)']] || belonging;
  END IF;
  IF noun = 'subtasks' THEN
    -- Their transcripts, from the days in which they worked.
    SELECT min(s.created_at), max(coalesce(s.completed_at, muster_now())) INTO made, ended FROM subtasks s WHERE s.id = ANY(ids) AND s.project_id = own;
    IF made IS NOT NULL THEN
      belonging := ARRAY[ARRAY['steps', format('x.subtask_id = ANY($1) AND x.at >= %L AND x.at < %L', made - interval '1 day', ended + interval '1 day')]] || belonging;
    END IF;
  END IF;
  FOR place IN 1 .. array_length(belonging, 1) LOOP
    RETURN QUERY EXECUTE format(CASE WHEN removes THEN 'DELETE FROM %1$I x WHERE x.project_id = $2 AND (%2$s) RETURNING %1$L::text, to_jsonb(x)::text'
      ELSE 'SELECT %1$L::text, to_jsonb(x)::text FROM %1$I x WHERE x.project_id = $2 AND (%2$s)' END, belonging[place][1], belonging[place][2]) USING ids, own;
  END LOOP;
END
$$;
--> statement-breakpoint
-- Takes the place of muster_log_reach, which processes of the version before call until they are replaced: the first event of the log is no longer what tells
-- a reader that something is gone. The last event of the log, 0 if there is none, and the ends of the partitions that follow a place, up to that event. The statement names its range as
-- numbers, so that it locks one partition instead of all.
CREATE FUNCTION muster_log_ends(after_seq bigint) RETURNS TABLE (latest bigint, ends bigint[])
  LANGUAGE plpgsql STABLE SET search_path = public, pg_temp AS
$$
DECLARE
  last_seq bigint := (SELECT last_value FROM muster_system.event_seq);
  part record;
BEGIN
  FOR part IN SELECT from_key, to_key FROM muster_system.partitions WHERE parent = 'events' AND from_key <= last_seq ORDER BY from_key DESC LOOP
    EXECUTE format('SELECT max(seq) FROM events WHERE seq >= %s AND seq < %s', part.from_key, part.to_key) INTO latest;
    EXIT WHEN latest IS NOT NULL;
  END LOOP;
  latest := coalesce(latest, 0);
  ends := ARRAY(SELECT to_key FROM muster_system.partitions WHERE parent = 'events' AND to_key > after_seq + 1 AND from_key <= latest ORDER BY to_key);
  RETURN NEXT;
END
$$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION muster_log_ends(bigint) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_log_ends(bigint) TO muster_dispatch;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION muster_due_partitions(integer, integer), muster_partition_rows(text, tid, integer), muster_note_archived(text, tid, boolean),
  muster_drop_partition(text, integer), muster_expired_rows(text, uuid, integer, integer, boolean), muster_early_projects(text, integer),
  muster_expired(text, integer, uuid, integer), muster_take(text, uuid[], boolean, integer) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_due_partitions(integer, integer), muster_partition_rows(text, tid, integer), muster_note_archived(text, tid, boolean),
  muster_drop_partition(text, integer), muster_expired_rows(text, uuid, integer, integer, boolean), muster_early_projects(text, integer),
  muster_expired(text, integer, uuid, integer) TO muster_dispatch;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_take(text, uuid[], boolean, integer) TO muster_app;
