-- live: no: it reads every stored text once to count it, and writes wait meanwhile
-- How many bytes of texts each project and each run have stored. A write adds a row of changes in its own transaction, so no row is updated for which another
-- transaction would wait. They are added up every few seconds.
CREATE TABLE muster_system.byte_changes (project_id uuid NOT NULL, run_id uuid, bytes bigint NOT NULL);
--> statement-breakpoint
ALTER TABLE muster_system.byte_changes SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
--> statement-breakpoint
-- The whole project is the run 00000000-….
CREATE TABLE muster_system.stored_bytes (project_id uuid NOT NULL, run_id uuid NOT NULL, bytes bigint NOT NULL, PRIMARY KEY (project_id, run_id)) WITH (fillfactor = 50);
--> statement-breakpoint
GRANT SELECT, INSERT ON muster_system.byte_changes TO muster_app, muster_dispatch;
--> statement-breakpoint
GRANT SELECT ON muster_system.stored_bytes TO muster_app, muster_dispatch;
--> statement-breakpoint
-- As how many bytes a row x of a table counts, as an expression: its texts before compression, and a fixed charge for its other columns, its indexes and what
-- Muster writes beside it, such as the events of a subtask. A row that has not changed counts the same when it is deleted.
CREATE FUNCTION muster_system.bytes_of(of_table text) RETURNS text LANGUAGE sql IMMUTABLE AS
$$
  SELECT CASE of_table
    WHEN 'subtasks' THEN '6000 + octet_length(x.task) + octet_length(x.metadata::text) + octet_length(x.required_outputs::text)'
      ' + coalesce(octet_length(x.result), 0) + coalesce(octet_length(x.summary), 0) + coalesce(octet_length(x.error), 0) + coalesce(octet_length(x.outputs::text), 0)'
    WHEN 'bodies' THEN '200 + octet_length(x.bytes)'
    WHEN 'steps' THEN '200 + coalesce(octet_length(x.content::text), 0)'
    WHEN 'session_messages' THEN '500 + coalesce(octet_length(x.content), 0) + octet_length(x.metadata::text) + coalesce(octet_length(x.usage::text), 0)'
    WHEN 'evaluations' THEN '200 + octet_length(x.detail::text) + coalesce(octet_length(x.output), 0) + coalesce(octet_length(x.summary), 0)'
    WHEN 'updates' THEN '500 + octet_length(x.content) + coalesce(octet_length(x.diff::text), 0)'
    -- Few are written, and some are rewritten: as long as they are as text.
    ELSE '500 + octet_length(x::text)' END
$$;
--> statement-breakpoint
-- One function a table, so that its statements are planned once a session.
DO $$
DECLARE
  counted text;
  run text := 'nullif(current_setting(''muster.run_id'', true), '''')::uuid';
BEGIN
  FOREACH counted IN ARRAY ARRAY['subtasks', 'bodies', 'steps', 'session_messages', 'evaluations', 'updates', 'check_ins', 'facts', 'questions', 'schedules',
    'subagent_versions', 'task_revisions', 'tasks', 'tsgs'] LOOP
    EXECUTE format($f$
      CREATE FUNCTION muster_system.count_%1$s() RETURNS trigger LANGUAGE plpgsql AS
      $t$
      BEGIN
        IF TG_OP = 'INSERT' THEN
          INSERT INTO muster_system.byte_changes (project_id, run_id, bytes) SELECT x.project_id, %3$s, sum(%2$s) FROM added x GROUP BY 1, 2;
        ELSIF TG_OP = 'DELETE' THEN
          INSERT INTO muster_system.byte_changes (project_id, bytes) SELECT x.project_id, -sum(%2$s) FROM gone x GROUP BY 1;
        ELSE
          INSERT INTO muster_system.byte_changes (project_id, run_id, bytes) SELECT c.project_id, %4$s, sum(c.bytes) FROM (
            SELECT x.project_id, %2$s AS bytes FROM added x UNION ALL SELECT x.project_id, -(%2$s) FROM gone x) AS c GROUP BY 1 HAVING sum(c.bytes) <> 0;
        END IF;
        RETURN NULL;
      END
      $t$
    $f$, counted, muster_system.bytes_of(counted), CASE counted WHEN 'steps' THEN 'x.subtask_id' ELSE run END, run);
    EXECUTE format('CREATE TRIGGER count_added AFTER INSERT ON %1$I REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION muster_system.count_%1$s()', counted);
    EXECUTE format('CREATE TRIGGER count_gone AFTER DELETE ON %1$I REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION muster_system.count_%1$s()', counted);
    IF counted IN ('questions', 'schedules', 'tasks', 'tsgs') THEN
      EXECUTE format('CREATE TRIGGER count_changed AFTER UPDATE ON %1$I REFERENCING OLD TABLE AS gone NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION muster_system.count_%1$s()', counted);
    END IF;
  END LOOP;
END
$$;
--> statement-breakpoint
-- A subtask is updated at each claim and renewal, and its texts once, at its end.
CREATE FUNCTION muster_system.count_ended() RETURNS trigger LANGUAGE plpgsql AS
$$
BEGIN
  INSERT INTO muster_system.byte_changes (project_id, bytes) VALUES (NEW.project_id,
    coalesce(octet_length(NEW.result), 0) + coalesce(octet_length(NEW.summary), 0) + coalesce(octet_length(NEW.error), 0) + coalesce(octet_length(NEW.outputs::text), 0)
    - coalesce(octet_length(OLD.result), 0) - coalesce(octet_length(OLD.summary), 0) - coalesce(octet_length(OLD.error), 0) - coalesce(octet_length(OLD.outputs::text), 0));
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER count_ended AFTER UPDATE OF result, summary, error, outputs ON subtasks FOR EACH ROW
  WHEN ((OLD.result, OLD.summary, OLD.error, OLD.outputs) IS DISTINCT FROM (NEW.result, NEW.summary, NEW.error, NEW.outputs))
  EXECUTE FUNCTION muster_system.count_ended();
--> statement-breakpoint
-- Adds the changes up. One process does it at a time, so that none waits for another one's rows.
CREATE FUNCTION muster_add_up_bytes() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
$$
BEGIN
  IF NOT pg_try_advisory_xact_lock(7300, 4) THEN
    RETURN;
  END IF;
  WITH gone AS (
    DELETE FROM muster_system.byte_changes RETURNING project_id, run_id, bytes
  ), sums AS (
    SELECT project_id, '00000000-0000-0000-0000-000000000000'::uuid AS run_id, sum(bytes) AS bytes FROM gone GROUP BY 1
    UNION ALL SELECT project_id, run_id, sum(bytes) FROM gone WHERE run_id IS NOT NULL GROUP BY 1, 2
  )
  INSERT INTO muster_system.stored_bytes AS s SELECT project_id, run_id, bytes FROM sums
    ON CONFLICT (project_id, run_id) DO UPDATE SET bytes = s.bytes + excluded.bytes;
END
$$;
--> statement-breakpoint
-- What a run has stored is of no use once its subtask or its task has ended or gone.
CREATE FUNCTION muster_forget_ended_runs() RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$
  DELETE FROM muster_system.stored_bytes s WHERE s.run_id <> '00000000-0000-0000-0000-000000000000'
    AND NOT EXISTS (SELECT FROM subtasks t WHERE t.id = s.run_id AND t.completed_at IS NULL)
    AND NOT EXISTS (SELECT FROM tasks t WHERE t.id = s.run_id AND t.completed_at IS NULL)
$$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION muster_add_up_bytes(), muster_forget_ended_runs() FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_add_up_bytes(), muster_forget_ended_runs() TO muster_dispatch;
--> statement-breakpoint
-- What is stored already.
DO $$
DECLARE
  counted text;
BEGIN
  FOREACH counted IN ARRAY ARRAY['subtasks', 'bodies', 'steps', 'session_messages', 'evaluations', 'updates', 'check_ins', 'facts', 'questions', 'schedules',
    'subagent_versions', 'task_revisions', 'tasks', 'tsgs'] LOOP
    EXECUTE format('INSERT INTO muster_system.byte_changes (project_id, bytes) SELECT x.project_id, sum(%s) FROM %I x GROUP BY 1', muster_system.bytes_of(counted), counted);
  END LOOP;
END
$$;
--> statement-breakpoint
-- As before, and what of a partition of transcripts goes is taken from what its projects have stored.
CREATE OR REPLACE FUNCTION muster_drop_partition(wanted text, otherwise integer) RETURNS TABLE (kept bigint, is_changed boolean)
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
  IF part.parent = 'steps' THEN
    EXECUTE format('INSERT INTO muster_system.byte_changes (project_id, bytes) SELECT x.project_id, -sum(%s) FROM steps x JOIN projects p ON p.id = x.project_id
      WHERE %s AND NOT %s GROUP BY 1', muster_system.bytes_of('steps'), range, keeps);
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
