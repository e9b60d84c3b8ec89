-- live: yes: an index over few rows, a table of a row for each bot, and a check that no row is read for
ALTER TABLE "audit_log" DROP CONSTRAINT "audit_log_door";
--> statement-breakpoint
CREATE INDEX "receivers_chats" ON "receivers" USING btree ("id") WHERE kind = 'telegram';
--> statement-breakpoint
ALTER TABLE "audit_log" ADD CONSTRAINT "audit_log_door" CHECK (door in ('http', 'mcp', 'script', 'telegram')) NOT VALID;
--> statement-breakpoint
-- Which worker reads the updates of a bot, and from which on. The key is a hash of its token, so that a project that names another's bot gains nothing.
CREATE TABLE muster_system.chat_bots (
  key text PRIMARY KEY,
  next_update_id bigint NOT NULL DEFAULT 0,
  worker_id text NOT NULL,
  lease_expires_at timestamptz NOT NULL
);
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON muster_system.chat_bots TO muster_dispatch;
