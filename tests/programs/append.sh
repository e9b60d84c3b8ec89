# Writes one line for each of its runs, in one write, so that lines of many runs at once do not mix.
printf '{"subtask_id":"%s","attempt":%s,"event":"run","pid":%s}\n' "$MUSTER_SUBTASK_ID" "$MUSTER_ATTEMPT" "$$" >> "$LEDGER"
echo "Written."
