-- live: yes: it makes a table of one row and a function
-- Which database this is, also after it was dumped and restored: a data folder remembers it, so that no process removes the folders of another database's work.
CREATE TABLE muster_system.identity (id uuid NOT NULL);
--> statement-breakpoint
INSERT INTO muster_system.identity VALUES (gen_random_uuid());
--> statement-breakpoint
GRANT SELECT ON muster_system.identity TO muster_dispatch;
--> statement-breakpoint
-- Which of some tasks exist, of any project.
CREATE FUNCTION muster_find_tasks(wanted uuid[]) RETURNS SETOF uuid
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$ SELECT id FROM tasks WHERE id = ANY(wanted) $$;
--> statement-breakpoint
GRANT CREATE ON SCHEMA public TO muster_definer;
--> statement-breakpoint
ALTER FUNCTION muster_find_tasks(uuid[]) OWNER TO muster_definer;
--> statement-breakpoint
REVOKE CREATE ON SCHEMA public FROM muster_definer;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION muster_find_tasks(uuid[]) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_find_tasks(uuid[]) TO muster_dispatch;
