-- One row that processes write to find out whether the server takes writes.
CREATE TABLE muster_system.write_check (at timestamptz NOT NULL);
--> statement-breakpoint
INSERT INTO muster_system.write_check (at) VALUES (clock_timestamp());
--> statement-breakpoint
GRANT SELECT, UPDATE ON muster_system.write_check TO muster_app, muster_dispatch;
--> statement-breakpoint
-- The row finds a read-only server and a log that cannot be written. It fits into a page that is there already, so it would not notice a full disk; the
-- numbers do: they do not fit into the little memory that they are given, and need some hundred kilobytes in a file for a moment.
CREATE FUNCTION muster_system.check_writes() RETURNS void LANGUAGE plpgsql SET work_mem = '64kB' AS
$$
BEGIN
  UPDATE muster_system.write_check SET at = clock_timestamp();
  PERFORM count(*) FROM generate_series(1, 30000);
END
$$;
--> statement-breakpoint
REVOKE ALL ON FUNCTION muster_system.check_writes() FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION muster_system.check_writes() TO muster_app, muster_dispatch;
