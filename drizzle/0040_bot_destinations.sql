-- live: no: new deliveries and the ends of attempts, and with them the relay of events, while an index is built
CREATE INDEX "deliveries_of_bots" ON "deliveries" USING btree ("destination_id","receiver_id","due_at","id") WHERE status = 'pending' and kind = 'telegram';
