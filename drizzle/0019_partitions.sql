-- What exists of the log and of the transcripts, as numbers, so that a reader can ask for few partitions at a time: places of the log, and days as seconds
-- since 1970. A partition and its row here are made in one transaction.
CREATE TABLE muster_system.partitions (
  name text PRIMARY KEY,
  parent text NOT NULL CHECK (parent IN ('events', 'steps')),
  from_key bigint NOT NULL,
  to_key bigint NOT NULL CHECK (from_key < to_key),
  UNIQUE (parent, from_key)
);
--> statement-breakpoint
GRANT SELECT ON muster_system.partitions TO muster_app, muster_dispatch;
--> statement-breakpoint
GRANT SELECT ON SEQUENCE muster_system.event_seq TO muster_dispatch;
--> statement-breakpoint
INSERT INTO muster_system.partitions (name, parent, from_key, to_key)
SELECT name, parent,
  CASE parent WHEN 'events' THEN bounds[1]::bigint ELSE extract(epoch FROM bounds[1]::timestamptz)::bigint END,
  CASE parent WHEN 'events' THEN bounds[2]::bigint ELSE extract(epoch FROM bounds[2]::timestamptz)::bigint END
FROM (
  SELECT c.relname AS name, p.relname AS parent, regexp_match(pg_get_expr(c.relpartbound, c.oid), $$FROM \('([^']+)'\) TO \('([^']+)'\)$$) AS bounds
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
  WHERE i.inhparent IN ('public.events'::regclass, 'public.steps'::regclass)
) AS found
WHERE bounds IS NOT NULL;
--> statement-breakpoint
-- Makes one partition. As a table of its own, which is attached when it is complete: CREATE TABLE … PARTITION OF would wait for every reader of the parent,
-- a running dump among them, and everything else would wait behind it. ATTACH waits only for other changes of the schema.
CREATE FUNCTION muster_system.add_partition(parent_name text, partition_name text, from_key bigint, to_key bigint) RETURNS void
  LANGUAGE plpgsql SET search_path = public, pg_temp AS
$$
DECLARE
  bounds text[] := CASE parent_name WHEN 'steps' THEN ARRAY[to_timestamp(from_key)::text, to_timestamp(to_key)::text] ELSE ARRAY[from_key::text, to_key::text] END;
BEGIN
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES INCLUDING STORAGE INCLUDING COMPRESSION)',
    partition_name, parent_name);
  EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', partition_name);
  EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', partition_name);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent_name, partition_name, bounds[1], bounds[2]);
  INSERT INTO muster_system.partitions VALUES (partition_name, parent_name, from_key, to_key);
END
$$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION muster_system.add_partition(text, text, bigint, bigint) FROM PUBLIC;
--> statement-breakpoint
-- A catch-all partition has to be searched under an exclusive lock whenever another one is made. Rows in it came from a clock that had jumped.
DO $$
DECLARE
  from_day date;
BEGIN
  ALTER TABLE steps DETACH PARTITION steps_rest;
  ALTER TABLE steps_rest NO FORCE ROW LEVEL SECURITY;
  FOR from_day IN SELECT DISTINCT (at AT TIME ZONE 'UTC')::date FROM steps_rest LOOP
    PERFORM muster_system.add_partition('steps', 'steps_' || to_char(from_day, 'YYYYMMDD'), day.from_key, day.from_key + 86400)
    FROM (SELECT extract(epoch FROM from_day::timestamp AT TIME ZONE 'UTC')::bigint AS from_key) AS day
    WHERE NOT EXISTS (SELECT FROM muster_system.partitions p WHERE p.parent = 'steps' AND p.from_key = day.from_key);
  END LOOP;
  INSERT INTO steps SELECT * FROM steps_rest;
  DROP TABLE steps_rest;
END
$$;
--> statement-breakpoint
-- How many events a day come at present, from those since the partition before the last one began, but from no fewer than six hours.
CREATE FUNCTION muster_system.events_per_day() RETURNS bigint
  LANGUAGE plpgsql STABLE SET search_path = public, pg_temp AS
$$
DECLARE
  last_seq bigint := (SELECT last_value FROM muster_system.event_seq);
  first_seq bigint;
  first_at timestamptz;
BEGIN
  SELECT min(from_key) INTO first_seq
    FROM (SELECT from_key FROM muster_system.partitions WHERE parent = 'events' AND from_key <= last_seq ORDER BY from_key DESC LIMIT 2) AS newest;
  EXECUTE format('SELECT at, seq FROM events WHERE seq >= %s AND seq <= %s ORDER BY seq LIMIT 1', coalesce(first_seq, last_seq), last_seq) INTO first_at, first_seq;
  RETURN coalesce((last_seq - first_seq) * 86400 / greatest(extract(epoch FROM muster_now() - first_at), 21600), 0)::bigint;
END
$$;
--> statement-breakpoint
-- Makes partitions well ahead of the writes: for two days of events at their present rate, and at least for a million, and for the transcripts of today and
-- of three more days. A partition of the log holds what comes in about six hours, or in a day if a project keeps its events for more than 90 days: so what
-- is kept never takes more than a few hundred partitions. Cheap when there is nothing to do. It waits for a lock only for a moment, and fails then: the next call tries again.
CREATE OR REPLACE FUNCTION muster_ensure_partitions() RETURNS void
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
    SELECT CASE WHEN coalesce(max((settings -> 'retention_days' ->> 'events')::int), 0) > 90 THEN 1 ELSE 0.25 END * per_day INTO size FROM projects;
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
-- How far the partitions reach ahead of the writes.
CREATE FUNCTION muster_partition_state() RETURNS TABLE (events_ahead bigint, events_wanted bigint, steps_seconds_ahead bigint, partitions integer)
  LANGUAGE sql STABLE SET search_path = public, pg_temp AS
$$
  SELECT max(to_key) FILTER (WHERE parent = 'events') - 1 - (SELECT last_value FROM muster_system.event_seq),
    greatest(500000, muster_system.events_per_day() / 2),
    max(to_key) FILTER (WHERE parent = 'steps') - extract(epoch FROM muster_now())::bigint, count(*)::integer
  FROM muster_system.partitions
$$;
--> statement-breakpoint
-- The first and the last event of the log, 0 if there is none, and the ends of the partitions that follow a place, up to the last event. Each statement here
-- names its range as numbers, so that it locks one partition instead of all.
CREATE FUNCTION muster_log_reach(after_seq bigint) RETURNS TABLE (oldest bigint, latest bigint, ends bigint[])
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
  FOR part IN SELECT from_key, to_key FROM muster_system.partitions WHERE parent = 'events' AND from_key <= latest ORDER BY from_key LOOP
    EXECUTE format('SELECT min(seq) FROM events WHERE seq >= %s AND seq < %s', part.from_key, part.to_key) INTO oldest;
    EXIT WHEN oldest IS NOT NULL;
  END LOOP;
  oldest := coalesce(oldest, 0);
  latest := coalesce(latest, 0);
  ends := ARRAY(SELECT to_key FROM muster_system.partitions WHERE parent = 'events' AND to_key > after_seq + 1 AND from_key <= latest ORDER BY to_key);
  RETURN NEXT;
END
$$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION muster_system.events_per_day(), muster_partition_state(), muster_log_reach(bigint) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_system.events_per_day(), muster_partition_state(), muster_log_reach(bigint) TO muster_dispatch;
--> statement-breakpoint
SELECT muster_ensure_partitions();
