-- Where each worker runs, and how far it is with taking no more work. All columns may be null: a worker of an earlier version leaves them out.
ALTER TABLE muster_system.workers
  ADD COLUMN version text,
  ADD COLUMN host text,
  ADD COLUMN pid integer,
  ADD COLUMN drain text CHECK (drain IN ('finish', 'release')),
  ADD COLUMN drain_requested_at timestamptz,
  ADD COLUMN drained_at timestamptz;
--> statement-breakpoint
-- A request to drain is part of the transaction that stores its answer, so muster_app writes it.
GRANT SELECT, UPDATE (drain, drain_requested_at) ON muster_system.workers TO muster_app;
