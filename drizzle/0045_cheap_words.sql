-- live: yes: it only replaces a function
-- As before: each sign of ASCII that is no letter and no digit separates words. `translate` compares each character with all 32 signs, which took twice as
-- long as the words themselves.
CREATE OR REPLACE FUNCTION muster_words(words text) RETURNS tsvector
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan AS
$$ SELECT to_tsvector('simple', regexp_replace(words, '[!-/:-@[-`{-~]+', ' ', 'g')) $$;
