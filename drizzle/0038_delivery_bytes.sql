-- live: no: it reads every stored delivery once to count it, and new deliveries, and with them the relay of events, wait meanwhile
-- As before, and deliveries: each receiver of an event has a row with the text that is sent. What an attempt adds to it does not count.
CREATE OR REPLACE FUNCTION muster_system.bytes_of(of_table text) RETURNS text LANGUAGE sql IMMUTABLE AS
$$
  SELECT CASE of_table
    WHEN 'subtasks' THEN '6000 + octet_length(x.task) + octet_length(x.metadata::text) + octet_length(x.required_outputs::text)'
      ' + coalesce(octet_length(x.result), 0) + coalesce(octet_length(x.summary), 0) + coalesce(octet_length(x.error), 0) + coalesce(octet_length(x.outputs::text), 0)'
    WHEN 'bodies' THEN '200 + octet_length(x.bytes)'
    WHEN 'steps' THEN '200 + coalesce(octet_length(x.content::text), 0)'
    WHEN 'session_messages' THEN '500 + coalesce(octet_length(x.content), 0) + octet_length(x.metadata::text) + coalesce(octet_length(x.usage::text), 0)'
    WHEN 'evaluations' THEN '200 + octet_length(x.detail::text) + coalesce(octet_length(x.output), 0) + coalesce(octet_length(x.summary), 0)'
    WHEN 'updates' THEN '500 + octet_length(x.content) + coalesce(octet_length(x.diff::text), 0)'
    WHEN 'deliveries' THEN '700 + octet_length(x.body)'
    -- Few are written, and some are rewritten: as long as they are as text.
    ELSE '500 + octet_length(x::text)' END
$$;
--> statement-breakpoint
DO $$
BEGIN
  EXECUTE format($f$
    CREATE FUNCTION muster_system.count_deliveries() RETURNS trigger LANGUAGE plpgsql AS
    $t$
    BEGIN
      IF TG_OP = 'INSERT' THEN
        INSERT INTO muster_system.byte_changes (project_id, bytes) SELECT x.project_id, sum(%1$s) FROM added x GROUP BY 1;
      ELSE
        INSERT INTO muster_system.byte_changes (project_id, bytes) SELECT x.project_id, -sum(%1$s) FROM gone x GROUP BY 1;
      END IF;
      RETURN NULL;
    END
    $t$
  $f$, muster_system.bytes_of('deliveries'));
  CREATE TRIGGER count_added AFTER INSERT ON deliveries REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION muster_system.count_deliveries();
  CREATE TRIGGER count_gone AFTER DELETE ON deliveries REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION muster_system.count_deliveries();
  -- What is stored already.
  EXECUTE format('INSERT INTO muster_system.byte_changes (project_id, bytes) SELECT x.project_id, sum(%s) FROM deliveries x GROUP BY 1', muster_system.bytes_of('deliveries'));
END
$$;
