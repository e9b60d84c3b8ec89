-- What a guide is found by. The beginning of its content is enough, and keeps any text within what a tsvector may hold. Of arrays of text,
-- array_to_string depends on nothing but its arguments; it is not marked so because of other types.
CREATE FUNCTION muster_tsg_words(tsg_id text, title text, patterns text[], content text) RETURNS tsvector
  LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS
$$
  SELECT to_tsvector('pg_catalog.simple', tsg_id || ' ' || title || ' ' || array_to_string(patterns, ' ') || ' ' || left(content, 20000))
$$;
--> statement-breakpoint
CREATE INDEX tsgs_search ON tsgs USING gin (muster_tsg_words(tsg_id, title, patterns, content));
--> statement-breakpoint
CREATE POLICY definer ON tsgs FOR SELECT TO muster_definer USING (true);
--> statement-breakpoint
GRANT SELECT ON tsgs TO muster_definer;
--> statement-breakpoint
-- Looks for itself, in the project of the transaction alone, because full-text operators are not leakproof. With the filters of the
-- list: what they leave out must not count towards a page.
CREATE FUNCTION muster_search_tsgs(
    wanted text, of_technology text, of_severity text, before_at timestamptz, before_id text, most integer) RETURNS SETOF text
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
$$
  SELECT t.tsg_id FROM tsgs t
  WHERE muster_tsg_words(t.tsg_id, t.title, t.patterns, t.content) @@ websearch_to_tsquery('simple', wanted)
    AND t.project_id = nullif(current_setting('muster.project_id', true), '')::uuid
    AND (of_technology IS NULL OR EXISTS (SELECT FROM unnest(t.technologies) AS technology WHERE lower(technology) = lower(of_technology)))
    AND (of_severity IS NULL OR t.severity = of_severity)
    AND (before_at IS NULL OR (t.created_at, t.tsg_id) < (before_at, before_id))
  ORDER BY t.created_at DESC, t.tsg_id DESC LIMIT most
$$;
--> statement-breakpoint
GRANT CREATE ON SCHEMA public TO muster_definer;
--> statement-breakpoint
ALTER FUNCTION muster_search_tsgs(text, text, text, timestamptz, text, integer) OWNER TO muster_definer;
--> statement-breakpoint
REVOKE CREATE ON SCHEMA public FROM muster_definer;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION muster_search_tsgs(text, text, text, timestamptz, text, integer) FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_search_tsgs(text, text, text, timestamptz, text, integer) TO muster_app;
