/**
 * What tests share: a PostgreSQL with a template database, use-cases composed over a copy of it, a clock that can be moved, and
 * the invariants that must hold whatever happened. It is never part of what is shipped.
 */
export { advanceClock, resetClock } from './clock.ts'
export { databaseFolder } from './database-folder.ts'
export { type DatabaseProxy, startDatabaseProxy } from './database-proxy.ts'
export { type Harness, type HarnessOptions, type RecordedLog, startHarness, TEST_RUNNERS } from './harness.ts'
export { HOSTILE_NAMES, HOSTILE_URLS } from './hostile-urls.ts'
export { type InvariantOptions, invariants } from './invariants.ts'
export {
  allEvents,
  claimAll,
  claimOne,
  completed,
  drain,
  drainOutbox,
  makeTask,
  publishCompleted,
  readSubtaskRow,
  type SubtaskRow,
  settleOne,
  spawn,
  spawnMany,
} from './journey.ts'
export { holdRow, waitUntilBlocked } from './locks.ts'
export { type MailServer, type SentMail, startMailServer } from './mail-server.ts'
export { readScheduleRow, readSlots, type ScheduleRow, type StoredSchedule, storeSchedules } from './schedules.ts'
export { scriptedJudge } from './scripted-judge.ts'
export { type Script, startScriptedPostgres } from './scripted-postgres.ts'
export { type SlackMessage, type SlackServer, startSlack } from './slack-server.ts'
export { mountSmallDisk, reserveLog, type SmallDisk } from './small-disk.ts'
export { type SentMessage, startTelegram, TELEGRAM_TOKEN, type TelegramServer } from './telegram-server.ts'
export { type TestDatabase, testDatabase } from './test-database.ts'
export { MISBEHAVIOURS, type Receipt, startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts'
