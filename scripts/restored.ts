import { parseArgs } from 'node:util'
import { listProjectIds } from '@muster/db'
import type { Subtask } from '@muster/domain'
import { acknowledgeRestores, type Ctx, cancelSubtask, countPendingFollowUps, listSchedules, listSubtasks, pauseSchedule } from '@muster/usecases'
import { withDatabase } from './system/database.ts'
import { loadEnvFile, prepareEnvironment } from './system/environment.ts'
import { ExplainedError } from './system/errors.ts'
import { asOperator } from './system/operator.ts'
import { reportFailure } from './system/report.ts'

const HELP = `Usage: npm run restored [-- --hold | --go-on]

For a database that was restored to an earlier point in time. What had not ended at that point, and schedules that were due since, may have
run since: if they run now, they run a second time. Prints them. Workers that have noticed the restore start nothing until one of these
options has said what to do, or there is nothing of the kind. Checks, judgements and deliveries that had not ended go on after either of them;
a delivery has the id that it had.

  --hold   also cancels those subtasks, with a result "cancelled" for their parent sessions, and pauses those schedules
  --go-on  lets them run, perhaps for the second time

MIGRATE_DATABASE_URL has to be set beside DATABASE_URL, as for npm run migrate. docs/backup.md has the whole procedure.
`

const PAGE = 200
const NOT_ENDED = ['pending', 'running', 'waiting'] as const

async function pages<Item>(read: (cursor: string | undefined) => Promise<{ items: Item[]; nextCursor: string | null }>): Promise<Item[]> {
  const all: Item[] = []
  for (let cursor: string | undefined; ; ) {
    const { items, nextCursor } = await read(cursor)
    all.push(...items)
    if (nextCursor === null) return all
    cursor = nextCursor
  }
}

/** Prints what may have run since the point in time, in the project of the actor, and holds it if asked to. Returns how much there is. */
async function lookAtProject(ctx: Ctx, now: Date, isHeld: boolean): Promise<number> {
  const { projectId } = ctx.actor
  const open: Subtask[] = []
  for (const status of NOT_ENDED) open.push(...(await pages((cursor) => listSubtasks(ctx, { status, limit: PAGE, cursor }))))
  for (const { id, status, agentId, parentSessionId } of open) {
    if (isHeld) await cancelSubtask(ctx, id)
    const parent = parentSessionId === null ? '' : `, parent session ${parentSessionId}`
    console.log(`project ${projectId}: subtask ${id} of agent ${agentId}${parent} was ${status}${isHeld ? ': cancelled' : ''}`)
  }
  const schedules = await pages((cursor) => listSchedules(ctx, { active: true, limit: PAGE, cursor }))
  const due = schedules.filter(({ nextFireAt }) => nextFireAt !== null && nextFireAt <= now)
  for (const { id, agentId, nextFireAt } of due) {
    const held = isHeld ? `: ${(await pauseSchedule(ctx, id)).state}` : ''
    console.log(`project ${projectId}: schedule ${id} of agent ${agentId} was due at ${nextFireAt?.toISOString()}${held}`)
  }
  const { checks, judgements, deliveries } = await countPendingFollowUps(ctx)
  if (checks + judgements + deliveries > 0)
    console.log(`project ${projectId}: not ended, and not cancelled by --hold: checks ${checks}, judgements ${judgements}, deliveries ${deliveries}`)
  return open.length + due.length
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' }, hold: { type: 'boolean' }, 'go-on': { type: 'boolean' } } })
  if (values.help === true) return console.log(HELP)
  loadEnvFile()
  const { settings } = prepareEnvironment(process.env)
  const isHeld = values.hold === true
  const goesOn = values['go-on'] === true
  if (isHeld && goesOn) throw new ExplainedError('--hold and --go-on exclude each other: one cancels what may run again, the other lets it run.')
  const count = await withDatabase(
    settings,
    'use',
    (line) => console.error(line),
    async ({ appUrl, adminUrl }) => {
      const projectIds = await listProjectIds(adminUrl, appUrl)
      return await asOperator(settings, appUrl, { operation: 'restored', fields: isHeld ? ['hold'] : goesOn ? ['go-on'] : [] }, async (ctx) => {
        let found = 0
        for (const projectId of projectIds) found += await lookAtProject({ ...ctx, actor: { ...ctx.actor, projectId } }, new Date(), isHeld)
        if (isHeld || goesOn || found === 0) await acknowledgeRestores(ctx)
        return found
      })
    },
  )
  if (count === 0) console.log('Nothing was under way or has come due since.')
  else if (goesOn) console.log('These run, perhaps for the second time.')
  else if (!isHeld)
    console.log('These may have run since, and would run again. To prevent that: npm run restored -- --hold. To let them run: npm run restored -- --go-on')
}

main().catch((error: unknown) => {
  reportFailure(error)
  process.exitCode = 1
})
