export { connect, type Database, type DatabaseRole, isDatabaseUnavailable, requireConfinedLogin, type Tx, transaction, unavailable } from './client.ts'
export { migrate, type MigrateOptions } from './migrate.ts'
