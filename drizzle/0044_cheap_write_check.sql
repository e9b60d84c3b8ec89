-- live: yes: it only replaces a function
-- As before, but with a few long texts instead of thousands of numbers, which takes a fourth of the processor. The update fails on a read-only server, and where the
-- write-ahead log cannot be written. It fits into an existing page and so does not notice a full disk. The texts do: they do not fit into 64 kB of memory, and
-- need about a hundred kilobytes of a temporary file.
CREATE OR REPLACE FUNCTION muster_system.check_writes() RETURNS void LANGUAGE plpgsql SET work_mem = '64kB' AS
$$
BEGIN
  UPDATE muster_system.write_check SET at = clock_timestamp();
  PERFORM (WITH texts AS MATERIALIZED (SELECT repeat('x', 10000) AS text FROM generate_series(1, 12)) SELECT count(text) FROM texts);
END
$$;
