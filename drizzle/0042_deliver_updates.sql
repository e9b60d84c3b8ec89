-- live: yes: it only adds a function
-- Delivers the updates of its tasks to a session, and records that, in one call. Null where that is not the usual case: a manual injection is open, a whole
-- brief waits, or more updates than `updates_max`. Nothing has changed then. The items otherwise, a row each as JSON, in the order in which the session got its
-- tasks. Its statements are one after the other, because each sees what was committed before it began: the reads see the changes that the locks waited for. The
-- locks are those of an injection in a transaction, in the same order.
CREATE FUNCTION muster_deliver_updates(
  project uuid, session text, by_kind text, by_id text, criteria_fields text[], tasks_max integer, updates_max integer) RETURNS jsonb
  LANGUAGE plpgsql VOLATILE SET search_path = public, pg_temp AS
$$
DECLARE
  locked uuid[];
  held record;
  delivered jsonb;
  items jsonb := '[]';
BEGIN
  PERFORM set_config('muster.project_id', project::text, true), pg_advisory_xact_lock(7302, hashtext(project || '/' || session));
  locked := ARRAY(
    SELECT t.id FROM tasks t WHERE t.id = ANY(ARRAY(
      SELECT a.task_id FROM assignments a WHERE a.project_id = project AND a.session_id = session AND a.has_news AND a.ended_at IS NULL
      ORDER BY a.assigned_at, a.task_id LIMIT tasks_max))
    ORDER BY t.id FOR UPDATE);
  FOR held IN
    SELECT a.task_id, a.turn, a.delivered_seq, a.delivered_revision, t.*,
      bool_or(a.introduced_at IS NULL) OVER () OR sum(t.update_seq - a.delivered_seq) OVER () > updates_max OR EXISTS (
        SELECT FROM injection_claims c WHERE c.project_id = project AND c.session_id = session AND c.acknowledged_at IS NULL AND c.replaced_at IS NULL
      ) AS is_unusual
    FROM assignments a CROSS JOIN LATERAL (
      SELECT t.title, t.status, t.revision, t.update_seq, t.criteria, t.completed_at IS NOT NULL AS is_ended FROM tasks t WHERE t.id = a.task_id OFFSET 0
    ) AS t
    WHERE a.project_id = project AND a.session_id = session AND a.has_news AND a.ended_at IS NULL AND a.task_id = ANY(locked)
    ORDER BY a.assigned_at, a.task_id
  LOOP
    -- So says the first row, before anything was written.
    IF held.is_unusual THEN
      RETURN NULL;
    END IF;
    CONTINUE WHEN held.is_ended;
    IF held.status IN ('assigned', 'revision_requested') THEN
      UPDATE tasks SET status = 'in_progress', updated_at = muster_now() WHERE id = held.task_id;
    END IF;
    WITH moved AS (
      UPDATE assignments SET delivered_seq = held.update_seq, delivered_revision = greatest(delivered_revision, held.revision), has_news = false
      WHERE task_id = held.task_id AND session_id = session
    ),
    delivered AS (
      UPDATE updates u SET status = 'delivered', delivered_at = (SELECT muster_now()), delivered_to = session
      WHERE u.project_id = project AND u.task_id = held.task_id AND u.seq > held.delivered_seq AND u.status = 'queued'
      RETURNING u.*
    ),
    announced AS (
      INSERT INTO outbox (project_id, batch, size)
      SELECT project, array_agg(row('update.delivered', 'task', held.task_id, NULL,
          jsonb_build_object('task_id', held.task_id, 'delivered_to', session, 'update_id', d.id), by_kind, by_id)::muster_event ORDER BY d.seq), count(*)
      FROM delivered d HAVING count(*) > 0
    )
    SELECT jsonb_agg(jsonb_build_object('task_id', held.task_id, 'generation', held.turn, 'title', held.title, 'status', held.status,
        'task_revision', held.revision, 'update_seq', held.update_seq, 'is_brief_delivered', true, 'delivered_revision', held.delivered_revision,
        'criteria', CASE WHEN d.fields && criteria_fields THEN held.criteria END,
        'id', d.id, 'seq', d.seq, 'update_type', d.update_type, 'fields', d.fields, 'content', d.content, 'diff', d.diff, 'revision', d.revision,
        'sender_kind', d.sender_kind, 'sender_id', d.sender_id, 'sender_name', d.sender_name, 'delivery', d.delivery, 'created_at', d.created_at) ORDER BY d.seq)
      INTO delivered FROM delivered d;
    items := items || coalesce(delivered, '[]');
  END LOOP;
  RETURN items;
END
$$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION muster_deliver_updates(uuid, text, text, text, text[], integer, integer) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_deliver_updates(uuid, text, text, text, text[], integer, integer) TO muster_app;
