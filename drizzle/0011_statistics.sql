-- A sample of 3,000 rows tells as much of these tables as one of 30,000, in a tenth of the time.
ALTER FUNCTION muster_analyze() SET default_statistics_target = '10';
--> statement-breakpoint
-- Rows that come and go all the time: what they leave behind is cleared away before the reads of what is left become slow.
ALTER TABLE outbox SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
--> statement-breakpoint
ALTER TABLE subtasks SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
--> statement-breakpoint
-- Written once when an attempt begins and once when it ends, no index touched: with room in the page, both stay in it.
ALTER TABLE attempts SET (fillfactor = 70);
