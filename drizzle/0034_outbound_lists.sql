-- live: yes: it makes a function, which an earlier version does not call
-- What deliveries of a project may reach, for workers, which see nothing else of its settings.
CREATE POLICY definer ON projects FOR SELECT TO muster_definer USING (true);
--> statement-breakpoint
GRANT SELECT (id, settings) ON projects TO muster_definer;
--> statement-breakpoint
CREATE FUNCTION muster_outbound_allow(project uuid) RETURNS text[]
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$
  -- An error would stop the claims of all projects: whatever is no list counts as an empty one.
  SELECT coalesce(array_agg(e.entry), '{}') FROM projects p
    CROSS JOIN jsonb_array_elements_text(CASE jsonb_typeof(p.settings -> 'outbound_allow') WHEN 'array' THEN p.settings -> 'outbound_allow' END) AS e (entry)
    WHERE p.id = project
$$;
--> statement-breakpoint
GRANT CREATE ON SCHEMA public TO muster_definer;
--> statement-breakpoint
ALTER FUNCTION muster_outbound_allow(uuid) OWNER TO muster_definer;
--> statement-breakpoint
REVOKE CREATE ON SCHEMA public FROM muster_definer;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION muster_outbound_allow(uuid) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_outbound_allow(uuid) TO muster_dispatch;
