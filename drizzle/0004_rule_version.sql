-- Evaluations from before versions were kept were made by the first rule. A constant default rewrites no rows.
ALTER TABLE evaluations ADD COLUMN rule_version integer NOT NULL DEFAULT 1;
