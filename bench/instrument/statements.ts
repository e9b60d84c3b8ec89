import type postgres from 'postgres'

/** Has the embedded server count its statements, and log the plans of slow ones. It costs a few per cent, so it is for profiles only. */
export const STATEMENT_SETTINGS = {
  shared_preload_libraries: 'pg_stat_statements,auto_explain',
  'pg_stat_statements.track': 'all',
  'pg_stat_statements.max': '10000',
  'auto_explain.log_min_duration': '5',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_buffers': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.sample_rate': '0.1',
}

const MOST = 60

/** The statements that took most time since the last call, over all databases. */
export async function takeStatements(sql: postgres.Sql): Promise<unknown[]> {
  await sql`create extension if not exists pg_stat_statements`
  const rows = await sql`
    select d.datname as database, s.toplevel, s.calls, round(s.total_exec_time::numeric, 1) as total_ms, round(s.mean_exec_time::numeric, 4) as mean_ms,
      round(s.min_exec_time::numeric, 4) as min_ms,
      s.rows, s.shared_blks_hit, s.shared_blks_read, s.wal_bytes, regexp_replace(s.query, '\\s+', ' ', 'g') as query
    from pg_stat_statements s left join pg_database d on d.oid = s.dbid
    order by s.total_exec_time desc limit ${MOST}`
  await sql`select pg_stat_statements_reset()`
  return [...rows]
}
