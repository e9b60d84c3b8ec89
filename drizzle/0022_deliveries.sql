CREATE TABLE "deliveries" (
	"project_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"receiver_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"destination_id" uuid NOT NULL,
	"event_seq" bigint,
	"type" text NOT NULL,
	"subject_id" uuid,
	"is_ordered" boolean NOT NULL,
	"body" text NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"rung" smallint DEFAULT 0 NOT NULL,
	"due_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"give_up_at" timestamp (3) with time zone NOT NULL,
	"lease_expires_at" timestamp (3) with time zone,
	"attempts" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "deliveries_status" CHECK (status in ('pending', 'sending', 'delivered', 'failed')),
	CONSTRAINT "deliveries_sending" CHECK ((status = 'sending') = (lease_expires_at is not null)),
	CONSTRAINT "deliveries_ended" CHECK ((status in ('pending', 'sending')) = (ended_at is null))
);
--> statement-breakpoint
CREATE TABLE "destinations" (
	"project_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"failures" integer NOT NULL,
	"paused_until" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "receivers" (
	"project_id" uuid NOT NULL,
	"id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"status" text DEFAULT 'enabled' NOT NULL,
	"destination_id" uuid NOT NULL,
	"url" text,
	"description" text,
	"events" text[] NOT NULL,
	"subject_id" uuid,
	"subject_name" text,
	"agent_id" text,
	"session_id" text,
	"is_ordered" boolean DEFAULT false NOT NULL,
	"secret" text,
	"previous_secret" text,
	"previous_until" timestamp (3) with time zone,
	"options" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"disabled_reason" text,
	"disabled_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT muster_now() NOT NULL,
	CONSTRAINT "receivers_kind" CHECK (kind in ('webhook', 'callback', 'telegram', 'slack', 'email')),
	CONSTRAINT "receivers_status" CHECK (status in ('enabled', 'disabled')),
	CONSTRAINT "receivers_callback" CHECK ((kind = 'callback') <= (subject_id is not null))
);
--> statement-breakpoint
CREATE INDEX "deliveries_by_receiver" ON "deliveries" USING btree ("project_id","receiver_id","id");--> statement-breakpoint
CREATE INDEX "deliveries_by_age" ON "deliveries" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "deliveries_due" ON "deliveries" USING btree ("destination_id","due_at","id") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "deliveries_sending" ON "deliveries" USING btree ("destination_id") WHERE status = 'sending';--> statement-breakpoint
CREATE INDEX "deliveries_in_order" ON "deliveries" USING btree ("receiver_id","subject_id","event_seq") WHERE is_ordered and status in ('pending', 'sending');--> statement-breakpoint
CREATE INDEX "receivers_by_project" ON "receivers" USING btree ("project_id","id") WHERE kind <> 'callback';--> statement-breakpoint
CREATE INDEX "receivers_callbacks" ON "receivers" USING btree ("project_id","subject_id") WHERE kind = 'callback';
--> statement-breakpoint
DO $$
DECLARE
  table_name text;
BEGIN
  FOREACH table_name IN ARRAY ARRAY['receivers', 'deliveries', 'destinations'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', table_name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', table_name);
    EXECUTE format(
      'CREATE POLICY project ON %I TO muster_app USING (project_id = nullif(current_setting(''muster.project_id'', true), '''')::uuid)', table_name);
    -- Workers deliver for all projects. Secrets are sealed with a key that the database does not have.
    EXECUTE format('CREATE POLICY dispatch ON %I TO muster_dispatch USING (true)', table_name);
  END LOOP;
END
$$;
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON receivers TO muster_app;
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE ON deliveries TO muster_app;
--> statement-breakpoint
GRANT SELECT, DELETE ON destinations TO muster_app;
--> statement-breakpoint
GRANT SELECT, DELETE ON receivers TO muster_dispatch;
--> statement-breakpoint
-- The rotation of keys seals secrets again.
GRANT UPDATE (secret, previous_secret) ON receivers TO muster_dispatch;
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON deliveries, destinations TO muster_dispatch;
--> statement-breakpoint
-- The deliveries of events that are in the log since this transaction. Ids begin with the time, as version 7 does, and end with a hash of event and
-- receiver. Without receivers it costs one look at an empty table.
CREATE FUNCTION muster_deliver(first_seq bigint, last_seq bigint) RETURNS integer
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
  ) r
  WHERE e.seq BETWEEN first_seq AND last_seq;
  GET DIAGNOSTICS inserted = ROW_COUNT;
  RETURN inserted;
END
$$;
--> statement-breakpoint
-- The relay as before, and the deliveries of what it has moved in the same commit. One relay runs at a time, so the numbers of a call have no gaps.
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
    DELETE FROM outbox WHERE id = ANY(ARRAY(SELECT id FROM outbox ORDER BY id LIMIT most)) RETURNING *
  ),
  written AS (
    INSERT INTO events (seq, project_id, type, subject_kind, subject_id, subject_name, data, actor_kind, actor_id, at)
    SELECT nextval('muster_system.event_seq'), project_id, type, subject_kind, subject_id, subject_name, data, actor_kind, actor_id, at
    FROM (SELECT * FROM gone ORDER BY id) AS ordered
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
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION muster_deliver(bigint, bigint) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_deliver(bigint, bigint) TO muster_dispatch;
