-- live: yes: it only replaces functions and makes one
-- Returns the rows that belong to some rows of a noun in the project of the transaction, these included, as JSON; `removes` deletes them. With `otherwise`, only those whose time is over,
-- as in muster_expired: one may have been flagged since. One list of what belongs
-- together, for what expires, for erasing and for exporting, so that neither leaves a row that nothing names.
CREATE OR REPLACE FUNCTION muster_take(noun text, ids uuid[], removes boolean, otherwise integer) RETURNS TABLE (name text, line text)
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
    WHEN 'schedules' THEN ARRAY[
      ARRAY['receivers', 'x.kind = ''callback'' AND x.subject_id = ANY($1)'],
      ARRAY['schedule_slots', 'x.schedule_id = ANY($1)'],
      ARRAY['schedules', 'x.id = ANY($1)']]
  END;
  IF belonging IS NULL THEN
    RAISE EXCEPTION 'muster_take does not know %', noun;
  END IF;
  -- Before their evaluations and receivers are gone, which lead to the deliveries.
  IF otherwise IS NOT NULL THEN
    IF noun = 'subtasks' THEN
      belonging := ARRAY[ARRAY['deliveries', 'x.receiver_id IN (SELECT r.id FROM receivers r WHERE r.project_id = $2 AND r.kind = ''callback'' AND r.subject_id = ANY($1))']] || belonging;
    END IF;
  ELSIF noun IN ('subtasks', 'tasks', 'session_messages', 'evaluations', 'schedules') THEN
    -- What was sent of them and of their evaluations, and webhooks of them alone, with what these were sent. Where they expire, deliveries expire on their own,
    -- and such a webhook stays until somebody deletes it. By kind, because callbacks and other receivers have an index each.
    belonging := ARRAY[
      ARRAY['deliveries', format('x.subject_id = ANY(ARRAY(SELECT unnest($1) UNION ALL SELECT e.id FROM evaluations e WHERE e.project_id = $2 AND e.%s = ANY($1)))
        OR x.receiver_id = ANY(ARRAY(SELECT r.id FROM receivers r WHERE r.project_id = $2 AND r.kind = ''callback'' AND r.subject_id = ANY($1)
          UNION ALL SELECT r.id FROM receivers r WHERE r.project_id = $2 AND r.kind <> ''callback'' AND r.subject_id = ANY($1)))',
        CASE noun WHEN 'subtasks' THEN 'subtask_id' WHEN 'tasks' THEN 'task_id' WHEN 'session_messages' THEN 'message_id' ELSE 'id' END)],
      ARRAY['destinations', 'x.id IN (SELECT r.id FROM receivers r WHERE r.project_id = $2 AND r.kind <> ''callback'' AND r.subject_id = ANY($1))'],
      ARRAY['receivers', 'x.kind <> ''callback'' AND x.subject_id = ANY($1)']] || belonging;
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
-- Returns the rows of a session, an agent or the project of the transaction that belong to no subtask, task, message, evaluation or schedule, as JSON; `removes` deletes
-- them. Of a project: all but the audit log, which stays; keys, what is on its way (outbox) and stored answers to requests only go.
CREATE OR REPLACE FUNCTION muster_take_scope(scope text, named text, removes boolean) RETURNS TABLE (name text, line text)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS
$$
DECLARE
  own uuid := nullif(current_setting('muster.project_id', true), '')::uuid;
  belonging text[][];
BEGIN
  belonging := CASE scope
    WHEN 'session' THEN ARRAY[
      ARRAY['inbox', 'x.session_id = $1'],
      ARRAY['injection_claims', 'x.session_id = $1'],
      ARRAY['deliveries', 'x.receiver_id IN (SELECT r.id FROM receivers r WHERE r.project_id = $2 AND r.kind <> ''callback'' AND r.session_id = $1)'],
      ARRAY['destinations', 'x.id IN (SELECT r.id FROM receivers r WHERE r.project_id = $2 AND r.kind <> ''callback'' AND r.session_id = $1)'],
      ARRAY['receivers', 'x.session_id = $1'],
      ARRAY['session_tool_uses', 'x.session_id = $1'],
      ARRAY['hook_reservations', 'x.session_id = $1 OR x.bound_session_id = $1'],
      ARRAY['tsg_notices', 'x.session_id = $1'],
      ARRAY['tsg_uses', 'x.session_id = $1']]
    WHEN 'agent' THEN ARRAY[
      -- Of a schedule that has become another agent's since.
      ARRAY['schedule_slots', 'x.agent_id = $1'],
      ARRAY['deliveries', 'x.receiver_id IN (SELECT r.id FROM receivers r WHERE r.project_id = $2 AND r.kind <> ''callback'' AND r.agent_id = $1)'],
      ARRAY['destinations', 'x.id IN (SELECT r.id FROM receivers r WHERE r.project_id = $2 AND r.kind <> ''callback'' AND r.agent_id = $1)'],
      ARRAY['receivers', 'x.agent_id = $1'],
      ARRAY['facts', 'x.agent_id = $1']]
    WHEN 'project' THEN (
      SELECT array_agg(ARRAY[c.relname::text, 'true'] ORDER BY c.relname) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'project_id'
      WHERE c.relnamespace = 'public'::regnamespace AND NOT c.relispartition AND c.relname <> 'audit_log' AND CASE WHEN removes THEN c.relkind = 'r' OR c.relname = 'steps'
          -- The others are large, and go with their subtask, their task or their message.
          ELSE c.relkind = 'r' AND c.relname NOT IN ('api_keys', 'idempotency_keys', 'outbox', 'subtasks', 'attempts', 'bodies', 'episode_words', 'evaluations', 'judgements',
            'updates', 'session_messages', 'tasks', 'task_revisions', 'check_ins', 'check_runs', 'assignments') END)
  END;
  IF belonging IS NULL OR own IS NULL THEN
    RAISE EXCEPTION 'muster_take_scope does not know %', scope;
  END IF;
  FOR place IN 1 .. array_length(belonging, 1) LOOP
    RETURN QUERY EXECUTE format(CASE WHEN removes THEN 'DELETE FROM %1$I x WHERE x.project_id = $2 AND (%2$s) RETURNING %1$L::text, to_jsonb(x)::text'
      ELSE 'SELECT %1$L::text, to_jsonb(x)::text FROM %1$I x WHERE x.project_id = $2 AND (%2$s)' END, belonging[place][1], belonging[place][2]) USING named, own;
  END LOOP;
  IF scope = 'project' AND NOT removes THEN
    RETURN QUERY SELECT 'projects', to_jsonb(p)::text FROM projects p WHERE p.id = own;
  END IF;
END
$$;
--> statement-breakpoint
-- Makes partitions well ahead of the writes: for two days of events at their present rate, and at least for a million, and for the transcripts of today and
-- of three more days. A partition of the log holds what comes in about six hours, or in a day if the server or a project keeps events for more than 90 days: so
-- what is kept takes no more than a few hundred partitions. Those that exist stay as they are. `server_days`: for how many days the server keeps events.
-- Cheap when there is nothing to do. It waits for a lock only for a moment, and fails then: the next call tries again.
CREATE FUNCTION muster_ensure_partitions(server_days integer) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '200ms' AS
$$
DECLARE
  smallest constant bigint := 500000;
  largest constant bigint := 100000000;
  last_seq bigint := (SELECT last_value FROM muster_system.event_seq);
  end_seq bigint;
  per_day bigint;
  size bigint;
  from_day date;
  from_second bigint;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7300, -1) THEN
    RETURN; -- another process is at it
  END IF;
  per_day := muster_system.events_per_day();
  SELECT greatest(max(to_key), last_seq / smallest * smallest) INTO end_seq FROM muster_system.partitions WHERE parent = 'events';
  IF end_seq - last_seq < greatest(2 * smallest, 2 * per_day) THEN
    SELECT CASE WHEN greatest(server_days, max((settings -> 'retention_days' ->> 'events')::int)) > 90 THEN 1 ELSE 0.25 END * per_day INTO size FROM projects;
    size := least(greatest(ceil(size::numeric / smallest), 1) * smallest, largest);
    WHILE end_seq - last_seq < greatest(2 * smallest, 2 * per_day) LOOP
      PERFORM muster_system.add_partition('events', 'events_from_' || end_seq, end_seq, end_seq + size);
      end_seq := end_seq + size;
    END LOOP;
  END IF;
  FOR from_day IN SELECT (muster_now() AT TIME ZONE 'UTC')::date + days FROM generate_series(0, 3) AS days LOOP
    from_second := extract(epoch FROM from_day::timestamp AT TIME ZONE 'UTC');
    IF NOT EXISTS (SELECT FROM muster_system.partitions WHERE parent = 'steps' AND from_key = from_second) THEN
      PERFORM muster_system.add_partition('steps', 'steps_' || to_char(from_day, 'YYYYMMDD'), from_second, from_second + 86400);
    END IF;
  END LOOP;
END
$$;
--> statement-breakpoint
-- For processes of the version before, which do not say for how long the server keeps events, until they are replaced.
CREATE OR REPLACE FUNCTION muster_ensure_partitions() RETURNS void LANGUAGE sql SET search_path = public, pg_temp AS
$$ SELECT muster_ensure_partitions(NULL) $$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION muster_ensure_partitions(integer) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_ensure_partitions(integer) TO muster_dispatch;
