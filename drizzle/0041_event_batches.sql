-- live: yes: columns that may be null or have a constant default, a check of a table that is as good as empty, types, a view and a function
-- One event on its way to the log, as an element of a batch. Its fields are as required as those of the log: an event that the log refuses would stop the relay.
CREATE DOMAIN muster_system.required_text AS text NOT NULL;
--> statement-breakpoint
CREATE DOMAIN muster_system.required_uuid AS uuid NOT NULL;
--> statement-breakpoint
CREATE DOMAIN muster_system.required_jsonb AS jsonb NOT NULL;
--> statement-breakpoint
CREATE TYPE muster_event AS (
  type muster_system.required_text,
  subject_kind muster_system.required_text,
  subject_id muster_system.required_uuid,
  subject_name text,
  data muster_system.required_jsonb,
  actor_kind muster_system.required_text,
  actor_id muster_system.required_text
);
--> statement-breakpoint
ALTER TABLE "outbox" ALTER COLUMN "type" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ALTER COLUMN "subject_kind" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ALTER COLUMN "subject_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ALTER COLUMN "data" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ALTER COLUMN "actor_kind" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ALTER COLUMN "actor_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "batch" muster_event[];--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "size" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_batch" CHECK (case when batch is null then num_nulls(type, subject_kind, subject_id, data, actor_kind, actor_id) = 0 and size = 1 else size > 0 end);
--> statement-breakpoint
-- The events of the outbox, each as a row, in their order by `id` and `place`. For those who look after it; the processes read only the log.
CREATE VIEW muster_system.waiting_events WITH (security_invoker = true) AS
  SELECT o.project_id, o.id, e.place, e.type, e.subject_kind, e.subject_id, e.subject_name, e.data, e.actor_kind, e.actor_id, o.at
  FROM outbox o CROSS JOIN LATERAL unnest(coalesce(o.batch,
      ARRAY[ROW(o.type, o.subject_kind, o.subject_id, o.subject_name, o.data, o.actor_kind, o.actor_id)::muster_event]))
    WITH ORDINALITY AS e(type, subject_kind, subject_id, subject_name, data, actor_kind, actor_id, place);
--> statement-breakpoint
-- The relay as before, over batches: a row of the outbox has the events of a whole statement, or one event. `most` is about events: the row that passes it is
-- the last one, so that a row is moved as a whole and at least one is moved.
CREATE OR REPLACE FUNCTION muster_relay(most integer) RETURNS TABLE (moved integer)
  LANGUAGE plpgsql VOLATILE SET search_path = public, pg_temp AS
$$
DECLARE
  last_seq bigint;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7300, 1) THEN
    RETURN;
  END IF;
  WITH gone AS (
    DELETE FROM outbox WHERE id = ANY(ARRAY(
      SELECT w.id FROM (
        SELECT o.id, sum(o.size) OVER (ORDER BY o.id ROWS UNBOUNDED PRECEDING) - o.size AS before FROM outbox o ORDER BY o.id LIMIT most
      ) AS w WHERE w.before < most))
    RETURNING *
  ),
  written AS (
    INSERT INTO events (seq, project_id, type, subject_kind, subject_id, subject_name, data, actor_kind, actor_id, at)
    SELECT nextval('muster_system.event_seq'), project_id, type, subject_kind, subject_id, subject_name, data, actor_kind, actor_id, at
    FROM (
      SELECT g.project_id, g.at, e.* FROM gone g CROSS JOIN LATERAL unnest(coalesce(g.batch,
          ARRAY[ROW(g.type, g.subject_kind, g.subject_id, g.subject_name, g.data, g.actor_kind, g.actor_id)::muster_event]))
        WITH ORDINALITY AS e(type, subject_kind, subject_id, subject_name, data, actor_kind, actor_id, place)
      ORDER BY g.id, e.place
    ) AS ordered
    RETURNING seq
  )
  SELECT count(*)::int, max(seq) INTO moved, last_seq FROM written;
  -- Followers and workers must not be notified before the log and the deliveries can be read, so these are sent with the commit.
  IF moved > 0 THEN
    PERFORM pg_notify('muster_events', 'relay,' || last_seq);
    IF muster_deliver(last_seq - moved + 1, last_seq) > 0 THEN
      PERFORM pg_notify('muster_deliver', 'relay');
    END IF;
  END IF;
  RETURN NEXT;
END
$$;
