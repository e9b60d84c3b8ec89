-- live: yes: it replaces a function
-- Deliveries of events, and of the ends of a schedule's runs to its callback.
CREATE OR REPLACE FUNCTION muster_deliver(first_seq bigint, last_seq bigint) RETURNS integer
  LANGUAGE plpgsql VOLATILE SET search_path = public, pg_temp AS
$$
DECLARE
  inserted integer;
BEGIN
  IF NOT EXISTS (SELECT FROM receivers WHERE status = 'enabled') THEN
    RETURN 0;
  END IF;
  WITH moment AS MATERIALIZED (SELECT muster_now() AS now, lpad(to_hex((extract(epoch FROM muster_now()) * 1000)::bigint), 12, '0') AS hex)
  INSERT INTO deliveries (
    project_id, id, receiver_id, kind, destination_id, event_seq, type, subject_id, is_ordered, body, due_at, give_up_at, created_at)
  SELECT e.project_id,
    (moment.hex || '7' || lpad(to_hex(e.seq & 4095), 3, '0') || '8' || substr(md5(r.id || '/' || e.seq), 1, 15))::uuid,
    r.id, r.kind, r.destination_id, e.seq, e.type, e.subject_id, r.is_ordered,
    '{"type":' || to_json(e.type)::text || ',"timestamp":"' || to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '","id":' || e.seq
      || ',"project_id":"' || e.project_id || '","subject":{"kind":' || to_json(e.subject_kind)::text || ',"id":' || to_json(coalesce(e.subject_name, e.subject_id::text))::text
      || '},"data":' || e.data::text || ',"actor":{"kind":' || to_json(e.actor_kind)::text || ',"id":' || to_json(e.actor_id)::text || '}}',
    moment.now, moment.now + interval '72 hours', moment.now
  FROM events e CROSS JOIN moment CROSS JOIN LATERAL (
    SELECT w.id, w.kind, w.destination_id, w.is_ordered FROM receivers w
    WHERE w.project_id = e.project_id AND w.kind <> 'callback' AND w.status = 'enabled'
      AND (e.type = ANY(w.events) OR split_part(e.type, '.', 1) || '.*' = ANY(w.events) OR '*' = ANY(w.events))
      AND (w.subject_id IS NULL OR w.subject_id = e.subject_id)
      AND (w.agent_id IS NULL OR w.agent_id = e.data ->> 'agent_id')
      AND (w.session_id IS NULL OR w.session_id IN (e.data ->> 'parent_session', e.data ->> 'subagent_session'))
      -- What its creator wants no message of is no message to people.
      AND (w.kind = 'webhook' OR e.data ->> 'notify' IS DISTINCT FROM 'false')
    UNION ALL
    SELECT c.id, c.kind, c.destination_id, c.is_ordered FROM receivers c
    WHERE c.project_id = e.project_id AND c.kind = 'callback' AND c.subject_id = e.subject_id AND c.status = 'enabled' AND e.type = ANY(c.events)
    UNION ALL
    SELECT c.id, c.kind, c.destination_id, c.is_ordered FROM subtasks s
    JOIN receivers c ON c.project_id = s.project_id AND c.kind = 'callback' AND c.subject_id = s.schedule_id AND c.status = 'enabled' AND e.type = ANY(c.events)
    WHERE e.subject_kind = 'subtask' AND e.type IN ('subtask.completed', 'subtask.failed', 'subtask.cancelled') AND s.id = e.subject_id
  ) r
  WHERE e.seq BETWEEN first_seq AND last_seq;
  GET DIAGNOSTICS inserted = ROW_COUNT;
  RETURN inserted;
END
$$;
