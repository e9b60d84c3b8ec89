-- live: yes: it makes a table and a function; an earlier version does not look at them
-- What is kept in files and in the texts beside rows, and what was removed of it, for metrics: of each kind in each data folder, whose workers take turns at looking.
CREATE TABLE muster_system.stored_files (
  -- The data folder; the id of zeros for what the database keeps.
  place uuid NOT NULL,
  kind text NOT NULL,
  -- When the last look began, and when it had seen everything.
  begun_at timestamptz NOT NULL DEFAULT muster_now(),
  measured_at timestamptz,
  files bigint NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  -- From the beginning.
  swept_files bigint NOT NULL DEFAULT 0,
  swept_bytes bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (place, kind)
);
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE ON muster_system.stored_files TO muster_dispatch;
--> statement-breakpoint
-- Of some tasks, those whose folder is kept no longer: they have ended, their project keeps folders for less time than has passed since, and nothing that lives or is flagged needs it.
CREATE FUNCTION muster_outlived_tasks(wanted uuid[], otherwise integer) RETURNS TABLE (id uuid)
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS
$$
BEGIN
  RETURN QUERY EXECUTE format('SELECT t.id FROM tasks t JOIN projects p ON p.id = t.project_id
    WHERE t.id = ANY($1) AND t.completed_at < muster_now() - make_interval(days => %s)
      AND NOT EXISTS (SELECT FROM subtasks s WHERE s.project_id = t.project_id AND s.task_id = t.id AND s.completed_at IS NULL)
      AND NOT EXISTS (SELECT FROM quality_flags f WHERE f.project_id = t.project_id AND f.subject_kind = ''task'' AND f.subject_id = t.id)',
    muster_system.days_of('folders', otherwise)) USING wanted;
END
$$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION muster_outlived_tasks(uuid[], integer) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_outlived_tasks(uuid[], integer) TO muster_dispatch;
