-- live: yes: it only adds functions
-- Accepts one subtask that gets a permit: what the statements of a batch do, in one call that commits by itself. Null where that is not the usual case: the
-- project has a budget, or the subtask meets a limit or would wait. Nothing has changed then. Its statements are one after the other, because each sees what
-- was committed before it began: the counts see what the locks waited for. The locks are those of a batch, in the same order.
CREATE FUNCTION muster_spawn_alone(
  project uuid, wanted jsonb, queue_name text,
  running integer, pending integer, project_running integer, project_pending integer, running_ceiling integer, pending_ceiling integer,
  audit jsonb, channel text, call text) RETURNS timestamptz
  LANGUAGE plpgsql VOLATILE SET search_path = public, pg_temp AS
$$
DECLARE
  subtask subtasks := jsonb_populate_record(NULL::subtasks, wanted);
  -- As precise as the columns, so that the answer has what is stored.
  now timestamptz(3);
  rank_at timestamptz;
  limits jsonb;
  pending_max integer;
  permits bigint;
  unclaimed bigint;
BEGIN
  PERFORM set_config('muster.project_id', project::text, true);
  SELECT p.settings -> 'limits' INTO limits FROM projects p WHERE p.id = project;
  IF NOT FOUND OR limits -> 'budget' IS NOT NULL OR limits @? '$.agents.*.budget' THEN
    RETURN NULL;
  END IF;
  IF coalesce(limits ->> 'running', project_running::text) IS NOT NULL OR coalesce(limits ->> 'pending', project_pending::text) IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock(hashtextextended(project::text, 1));
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended(project || '/' || subtask.agent_id, 0));

  -- As they are behind the locks.
  SELECT p.settings -> 'limits' INTO limits FROM projects p WHERE p.id = project;
  IF NOT FOUND OR limits -> 'budget' IS NOT NULL OR limits @? '$.agents.*.budget' THEN
    RETURN NULL;
  END IF;
  SELECT count(*), count(*) FILTER (WHERE s.status = 'pending') INTO permits, unclaimed
    FROM subtasks s WHERE s.project_id = project AND s.agent_id = subtask.agent_id AND s.slot;
  IF permits >= least(coalesce((limits #>> ARRAY['agents', subtask.agent_id, 'running'])::integer, (limits ->> 'running_per_agent')::integer, running), running_ceiling) THEN
    RETURN NULL;
  END IF;
  pending_max := least(coalesce((limits #>> ARRAY['agents', subtask.agent_id, 'pending'])::integer, (limits ->> 'pending_per_agent')::integer, pending), pending_ceiling);
  IF unclaimed + (
    SELECT count(*) FROM (
      SELECT FROM subtasks s WHERE s.project_id = project AND s.agent_id = subtask.agent_id AND s.status = 'pending' AND NOT s.slot LIMIT pending_max
    ) AS waiting
  ) >= pending_max THEN
    RETURN NULL;
  END IF;
  project_running := CASE WHEN limits ->> 'running' IS NULL THEN project_running ELSE least((limits ->> 'running')::integer, running_ceiling) END;
  IF project_running IS NOT NULL AND (
    EXISTS (SELECT FROM subtasks s WHERE s.project_id = project AND s.status = 'pending' AND NOT s.slot)
    OR (SELECT count(*) FROM (SELECT FROM subtasks s WHERE s.project_id = project AND s.slot LIMIT project_running) AS held) >= project_running
  ) THEN
    RETURN NULL;
  END IF;
  project_pending := CASE WHEN limits ->> 'pending' IS NULL THEN project_pending ELSE least((limits ->> 'pending')::integer, pending_ceiling) END;
  IF project_pending IS NOT NULL
    AND (SELECT count(*) FROM (SELECT FROM subtasks s WHERE s.project_id = project AND s.status = 'pending' LIMIT project_pending) AS waiting) >= project_pending
  THEN
    RETURN NULL;
  END IF;

  -- Not the time before the locks: an old permit counts as idle.
  now := muster_now();
  rank_at := now + (wanted ->> 'rank_seconds')::integer * interval '1 second';
  INSERT INTO subtasks (
      project_id, id, agent_id, parent_session_id, task, task_id, task_revision, schedule_id, subagent_name, subagent_version, resume_of, background, priority,
      runner, model, timeout_seconds, max_attempts, budget_max_steps, budget_max_tokens, budget_max_cost_micros, notify, required_outputs, metadata,
      traceparent, max_revisions, created_at, rank_at, slot, slot_at, job_id)
    VALUES (
      project, subtask.id, subtask.agent_id, subtask.parent_session_id, subtask.task, subtask.task_id, subtask.task_revision, subtask.schedule_id,
      subtask.subagent_name, subtask.subagent_version, subtask.resume_of, subtask.background, subtask.priority,
      subtask.runner, subtask.model, subtask.timeout_seconds, subtask.max_attempts, subtask.budget_max_steps, subtask.budget_max_tokens,
      subtask.budget_max_cost_micros, subtask.notify, subtask.required_outputs, subtask.metadata,
      subtask.traceparent, subtask.max_revisions, now, rank_at, true, now, subtask.job_id);
  -- What the queue's own insert writes. Without the queue the name is null, and this fails: a row with a permit and without a job would wait for ever.
  INSERT INTO pgboss.job (
      name, id, data, priority, start_after, created_on, expire_seconds, deletion_seconds, keep_until,
      retry_limit, retry_delay, retry_backoff, retry_delay_max, policy, dead_letter, heartbeat_seconds)
    SELECT q.name, subtask.job_id, jsonb_build_object('project_id', project, 'id', subtask.id), -floor(extract(epoch FROM rank_at))::integer, j.now, j.now,
      q.expire_seconds, q.deletion_seconds, j.now + q.retention_seconds * interval '1 second',
      q.retry_limit, q.retry_delay, q.retry_backoff, q.retry_delay_max, q.policy, q.dead_letter, q.heartbeat_seconds
    FROM (SELECT pgboss.job_now() AS now) AS j LEFT JOIN pgboss.queue q ON q.name = queue_name;
  INSERT INTO outbox (project_id, batch, size, at)
    VALUES (project, ARRAY[
      row('subtask.created', 'subtask', subtask.id, NULL, wanted -> 'event', wanted ->> 'actor_kind', wanted ->> 'actor_id')::muster_event], 1, now);
  IF audit IS NOT NULL THEN
    INSERT INTO audit_log (project_id, at, actor_kind, actor_id, actor_name, door, address, operation, request_id, ids, fields)
      SELECT project, now, e.actor_kind, e.actor_id, e.actor_name, e.door, e.address, e.operation, e.request_id, e.ids, e.fields
      FROM jsonb_populate_record(NULL::audit_log, audit) AS e;
  END IF;
  IF call IS NOT NULL THEN
    PERFORM pg_notify(channel, call);
  END IF;
  RETURN now;
END
$$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION muster_spawn_alone(uuid, jsonb, text, integer, integer, integer, integer, integer, integer, jsonb, text, text) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_spawn_alone(uuid, jsonb, text, integer, integer, integer, integer, integer, integer, jsonb, text, text) TO muster_app;
--> statement-breakpoint
-- Stores the end of one attempt that ends its subtask: what the statements of a batch do, in one call that commits by itself. False where the row is no longer of
-- the version that the end was decided by, where the run has asked a question since, and where a subtask of the project waits for a permit, which a batch would
-- grant in the same commit. Nothing has changed then.
CREATE FUNCTION muster_end_alone(
  project uuid, version text, ended jsonb, evaluation jsonb, events jsonb, agent text, queue_name text, job uuid, channel text, call text) RETURNS boolean
  LANGUAGE plpgsql VOLATILE SET search_path = public, pg_temp AS
$$
DECLARE
  written subtasks := jsonb_populate_record(NULL::subtasks, ended);
  now timestamptz(3);
  session text;
BEGIN
  PERFORM set_config('muster.project_id', project::text, true);
  -- An array, so that every plan reads the row by its primary key: with the project beside the id, one that was made while the table was empty looks through the
  -- agents of the project.
  SELECT s.parent_session_id INTO session FROM subtasks s WHERE s.id = ANY(ARRAY[written.id]) AND s.xmin::text = version FOR UPDATE;
  -- A question is asked under the lock of the row: behind it, it is there.
  IF NOT FOUND OR EXISTS (SELECT FROM questions q WHERE q.project_id = project AND q.subtask_id = written.id AND q.status = 'open') THEN
    RETURN false;
  END IF;
  -- A subtask that is being accepted finds the permit taken, and waits. Behind the lock of the lane it is there; later ones find the permit free.
  PERFORM pg_advisory_xact_lock(hashtextextended(project || '/' || agent, 0));
  IF EXISTS (SELECT FROM subtasks s WHERE s.project_id = project AND s.status = 'pending' AND NOT s.slot) THEN
    RETURN false;
  END IF;
  now := muster_now();
  UPDATE subtasks s SET
      status = written.status, final_outcome = written.final_outcome, result = written.result, result_body_id = written.result_body_id,
      result_truncated = written.result_truncated, summary = written.summary, error = written.error, outputs = written.outputs, failures = written.failures,
      lost_ms = s.lost_ms + written.lost_ms, input_tokens = s.input_tokens + written.input_tokens, output_tokens = s.output_tokens + written.output_tokens,
      cost_micros = s.cost_micros + written.cost_micros, tool_calls = s.tool_calls + written.tool_calls,
      slot = false, slot_at = NULL, job_id = NULL, lease_expires_at = NULL, lease_renewed_at = NULL, lease_token_hash = NULL, credential_hash = NULL,
      feedback = NULL, continuation_body_id = NULL, completed_at = now
    WHERE s.id = ANY(ARRAY[written.id]);
  UPDATE attempts a SET
      ended_at = now, outcome = written.final_outcome, error = written.error, lost_ms = written.lost_ms, input_tokens = a.input_tokens + written.input_tokens,
      output_tokens = a.output_tokens + written.output_tokens, cost_micros = a.cost_micros + written.cost_micros, tool_calls = a.tool_calls + written.tool_calls,
      cached_input_tokens = a.cached_input_tokens + (ended ->> 'cached_input_tokens')::bigint, model = coalesce(ended ->> 'used_model', a.model)
    WHERE a.project_id = project AND a.subtask_id = written.id AND a.attempt = written.attempt;
  IF session IS NOT NULL AND ended ->> 'inbox_id' IS NOT NULL THEN
    INSERT INTO inbox (project_id, id, session_id, subtask_id, created_at)
      VALUES (project, (ended ->> 'inbox_id')::uuid, session, written.id, now) ON CONFLICT (subtask_id) DO NOTHING;
  END IF;
  IF evaluation IS NOT NULL THEN
    INSERT INTO evaluations (project_id, id, origin, task_id, subtask_id, message_id, session_id, subagent_name, score, recommendation, criteria_revision,
        rule_version, detail, summary, output, output_body_id, judge_of, review_of, is_judged, judge, created_at)
      SELECT project, e.id, e.origin, e.task_id, e.subtask_id, e.message_id, e.session_id, e.subagent_name, e.score, e.recommendation, e.criteria_revision,
        e.rule_version, e.detail, e.summary, e.output, e.output_body_id, e.judge_of, e.review_of, e.judge_of IS NOT NULL, e.judge, now
      FROM jsonb_populate_record(NULL::evaluations, evaluation) AS e ON CONFLICT DO NOTHING;
  END IF;
  INSERT INTO outbox (project_id, batch, size, at)
    SELECT project,
      array_agg(row(e.type, e.subject_kind, e.subject_id, e.subject_name, e.data, e.actor_kind, e.actor_id)::muster_event ORDER BY e.place), count(*), now
    FROM ROWS FROM (
      jsonb_to_recordset(events) AS (type text, subject_kind text, subject_id uuid, subject_name text, data jsonb, actor_kind text, actor_id text)
    ) WITH ORDINALITY AS e(type, subject_kind, subject_id, subject_name, data, actor_kind, actor_id, place);
  DELETE FROM pgboss.job j WHERE j.name = queue_name AND j.id = job;
  IF call IS NOT NULL THEN
    PERFORM pg_notify(channel, call);
  END IF;
  RETURN true;
END
$$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION muster_end_alone(uuid, text, jsonb, jsonb, jsonb, text, text, uuid, text, text) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_end_alone(uuid, text, jsonb, jsonb, jsonb, text, text, uuid, text, text) TO muster_app;
