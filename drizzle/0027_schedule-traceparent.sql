-- live: yes: a column without a default changes the catalog alone; an earlier version leaves it out.
ALTER TABLE "schedules" ADD COLUMN "traceparent" text;