-- live: no: new deliveries and the ends of attempts, and with them the relay of events, while two indexes are built
DROP INDEX "deliveries_due";--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "is_parked" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "frees_next" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "deliveries_free_next" ON "deliveries" USING btree ("receiver_id","subject_id") WHERE frees_next;--> statement-breakpoint
CREATE INDEX "deliveries_due" ON "deliveries" USING btree ("destination_id","is_parked","due_at","id") WHERE status = 'pending';
--> statement-breakpoint
-- Whoever ends an ordered delivery, also an earlier version that runs beside this one, has the next of its subject looked at.
CREATE FUNCTION muster_system.free_next() RETURNS trigger LANGUAGE plpgsql AS
$$
BEGIN
  NEW.is_parked := false;
  NEW.frees_next := true;
  RETURN NEW;
END
$$;
--> statement-breakpoint
CREATE TRIGGER deliveries_free_next BEFORE UPDATE OF status ON deliveries FOR EACH ROW
  WHEN (OLD.is_ordered AND NEW.status IN ('delivered', 'failed') AND OLD.status IN ('pending', 'sending'))
  EXECUTE FUNCTION muster_system.free_next();
