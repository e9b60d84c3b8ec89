-- live: yes: it only makes functions
-- Returns the rows of a session, an agent or the project of the transaction that belong to no subtask, task, message or evaluation, as JSON; `removes` deletes
-- them. Of a project: all but the audit log, which stays; keys, what is on its way (outbox) and stored answers to requests only go.
CREATE FUNCTION muster_take_scope(scope text, named text, removes boolean) RETURNS TABLE (name text, line text)
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
      ARRAY['receivers', 'x.session_id = $1'],
      ARRAY['session_tool_uses', 'x.session_id = $1'],
      ARRAY['hook_reservations', 'x.session_id = $1 OR x.bound_session_id = $1'],
      ARRAY['tsg_notices', 'x.session_id = $1'],
      ARRAY['tsg_uses', 'x.session_id = $1']]
    WHEN 'agent' THEN ARRAY[
      ARRAY['schedule_slots', 'x.agent_id = $1'],
      ARRAY['schedules', 'x.agent_id = $1'],
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
-- Deletes events of the project of the transaction from one partition: those about some subjects, or all if there are none. Returns how many; `most` at once.
CREATE FUNCTION muster_remove_events(wanted text, subjects uuid[], most integer) RETURNS bigint
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS
$$
DECLARE
  part muster_system.partitions;
  removed bigint;
BEGIN
  SELECT * INTO part FROM muster_system.partitions p WHERE p.name = wanted AND p.parent = 'events';
  IF part IS NULL THEN
    RETURN 0;
  END IF;
  EXECUTE format('DELETE FROM events x WHERE %1$s AND x.ctid = ANY(ARRAY(SELECT x.ctid FROM events x WHERE %1$s AND x.project_id = $1 AND ($2 IS NULL OR x.subject_id = ANY($2)) LIMIT $3))',
    muster_system.range_of(part)) USING nullif(current_setting('muster.project_id', true), '')::uuid, subjects, most;
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END
$$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION muster_take_scope(text, text, boolean), muster_remove_events(text, uuid[], integer) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_take_scope(text, text, boolean), muster_remove_events(text, uuid[], integer) TO muster_app;
