-- live: yes: it makes a table; an earlier version does not look at it.
-- How far the workers of each data folder have counted. The folder keeps the number too: a database that knows a lower one was restored to an earlier time.
CREATE TABLE muster_system.data_folders (
  place uuid PRIMARY KEY,
  -- The folder keeps it with the number: a copy of a database that counts for itself has another one.
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  beat bigint NOT NULL,
  beaten_at timestamptz NOT NULL DEFAULT muster_now(),
  -- What has happened since `lost_since` is lost, as far as it is known. Null unless a restore was noticed that no operator has looked at.
  restore_noticed_at timestamptz,
  lost_since timestamptz
);
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE ON muster_system.data_folders TO muster_dispatch;
