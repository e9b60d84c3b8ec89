-- Moves waiting events into the log, giving each its place: the relay, as one call instead of five. One relay at a time, by a lock that ends
-- with the transaction, so that places are committed in their order; each statement in here sees what was committed before it, so the events of
-- a relay that has just ended are gone. Nothing is answered while another relay is at it.
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
REVOKE EXECUTE ON FUNCTION muster_relay(integer) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_relay(integer) TO muster_dispatch;
