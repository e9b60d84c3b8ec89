-- Workers look at all their runs at once, across projects, and have to see whether the brief of one has changed.
CREATE POLICY dispatch ON assignments FOR SELECT TO muster_dispatch USING (true);
--> statement-breakpoint
GRANT SELECT ON assignments TO muster_dispatch;
