ALTER TABLE check_ins ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE check_ins FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY project ON check_ins TO muster_app USING (project_id = nullif(current_setting('muster.project_id', true), '')::uuid);
--> statement-breakpoint
GRANT SELECT, INSERT ON check_ins TO muster_app;
--> statement-breakpoint
-- With the filters of the list: what they leave out must not count towards a page.
DROP FUNCTION muster_search_tasks(text, uuid, integer);
--> statement-breakpoint
CREATE FUNCTION muster_search_tasks(
    wanted text, before_id uuid, most integer, of_status text, of_priority text, of_parent text, of_holder text) RETURNS SETOF uuid
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$
  SELECT t.id FROM tasks t
  WHERE t.search @@ websearch_to_tsquery('simple', wanted)
    AND t.project_id = nullif(current_setting('muster.project_id', true), '')::uuid
    AND (before_id IS NULL OR t.id < before_id)
    AND (of_status IS NULL OR t.status = of_status)
    AND (of_priority IS NULL OR t.priority = of_priority)
    AND (of_parent IS NULL OR t.parent_session_id = of_parent)
    AND (of_holder IS NULL OR t.subagent_session_id = of_holder)
  ORDER BY t.id DESC LIMIT most
$$;
--> statement-breakpoint
GRANT CREATE ON SCHEMA public TO muster_definer;
--> statement-breakpoint
ALTER FUNCTION muster_search_tasks(text, uuid, integer, text, text, text, text) OWNER TO muster_definer;
--> statement-breakpoint
REVOKE CREATE ON SCHEMA public FROM muster_definer;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION muster_search_tasks(text, uuid, integer, text, text, text, text) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_search_tasks(text, uuid, integer, text, text, text, text) TO muster_app;
