-- live: yes: it only replaces a function
-- As before, and a message stays while a judge has not answered about it: its evaluation would go with it.
CREATE OR REPLACE FUNCTION muster_system.is_expired(noun text, otherwise integer) RETURNS text LANGUAGE plpgsql IMMUTABLE AS
$$
DECLARE
  over text := format('< muster_now() - make_interval(days => %s)', muster_system.days_of(muster_system.kind_of(noun), otherwise));
BEGIN
  RETURN CASE noun
    WHEN 'inbox' THEN format('x.delivered_at %s', over)
    WHEN 'deliveries' THEN format('x.ended_at %s', over)
    WHEN 'injection_claims' THEN format('coalesce(x.acknowledged_at, x.replaced_at) %s', over)
    WHEN 'session_messages' THEN format('x.created_at %s AND x.quality_flag IS NULL AND NOT x.training_candidate'
      ' AND NOT EXISTS (SELECT FROM tasks t WHERE t.id = x.task_id AND t.completed_at IS NULL)'
      ' AND NOT EXISTS (SELECT FROM quality_flags f WHERE f.project_id = x.project_id AND f.subject_kind = ''task'' AND f.subject_id = x.task_id)'
      ' AND NOT EXISTS (SELECT FROM evaluations e JOIN judgements j ON j.project_id = e.project_id AND j.evaluation_id = e.id'
      '   WHERE e.project_id = x.project_id AND e.message_id = x.id AND j.ended_at IS NULL)', over)
    WHEN 'evaluations' THEN format('x.created_at %s AND x.subtask_id IS NULL AND x.task_id IS NULL AND x.message_id IS NULL'
      ' AND NOT EXISTS (SELECT FROM judgements j WHERE j.project_id = x.project_id AND j.evaluation_id = x.id AND j.ended_at IS NULL)', over)
    WHEN 'schedule_slots' THEN format('x.slot %s AND x.outcome <> ''waiting'' AND x.subtask_id IS NULL', over)
    WHEN 'subtasks' THEN format('x.completed_at %s'
      ' AND NOT EXISTS (SELECT FROM tasks t WHERE t.id = x.task_id AND t.completed_at IS NULL)'
      ' AND NOT EXISTS (SELECT FROM subtasks n WHERE n.revision_of = x.id)'
      ' AND NOT EXISTS (SELECT FROM subtasks n WHERE n.resume_of = x.id)'
      ' AND NOT EXISTS (SELECT FROM quality_flags f WHERE f.project_id = x.project_id AND f.subject_kind = ''subtask'' AND f.subject_id = x.id)'
      ' AND NOT EXISTS (SELECT FROM quality_flags f WHERE f.project_id = x.project_id AND f.subject_kind = ''task'' AND f.subject_id = x.task_id)'
      ' AND NOT EXISTS (SELECT FROM evaluations e JOIN judgements j ON j.project_id = e.project_id AND j.evaluation_id = e.id'
      '   WHERE e.project_id = x.project_id AND e.subtask_id = x.id AND j.ended_at IS NULL)'
      -- The last run of a schedule that still fires.
      ' AND NOT EXISTS (SELECT FROM schedules c WHERE c.id = x.schedule_id AND c.state IN (''active'', ''paused'')'
      '   AND NOT EXISTS (SELECT FROM subtasks n WHERE n.project_id = x.project_id AND n.schedule_id = x.schedule_id AND n.id > x.id))', over)
  END;
END
$$;
