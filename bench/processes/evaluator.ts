/**
 * Evaluates outputs that are stored, as a pass over old results would: with the code that evaluates every result as it comes in, in this process,
 * and with many rows a commit.
 */
import { createDeps } from '@muster/api/deps'
import { evaluations, outbox, transaction } from '@muster/db'
import { DEFAULT_EVALUATION_RULES, DEFAULT_PROJECT_ID, parseProcessSettings } from '@muster/domain'
import { evaluateOutput, evaluationEvent } from '@muster/usecases'
import pino from 'pino'
import { machineMs } from '../instrument/clock.ts'
import { serve } from '../instrument/serve.ts'
import { adversarialOutputs, eightCriteria } from '../seeds/outputs.ts'

/** Rows of one commit. While one waits for its disk, the next is evaluated. */
const BATCH = 200
const BATCHES_AT_ONCE = 2
const NO_SUBJECT = { taskId: null, messageId: null, sessionId: null, subagentName: null }
const ACTOR = { kind: 'system', id: 'bench' } as const

const settings = parseProcessSettings(process.env)
const log = pino({ level: settings.LOG_LEVEL, base: { process: 'evaluator' } })
const deps = createDeps({ settings, environment: process.env, log, stopping: new AbortController().signal })
const criteria = eightCriteria()

function evaluateOne(subtaskId: string, output: string) {
  const subject = { ...NO_SUBJECT, projectId: DEFAULT_PROJECT_ID, origin: 'subtask' as const, subtaskId }
  return evaluateOutput(deps.newId(), subject, { output, criteria, criteriaRevision: 1, settings: DEFAULT_EVALUATION_RULES }).row
}

/** Evaluates what has not been evaluated of these. Answers how many rows were written. */
function evaluateBatch(ids: readonly string[]): Promise<number> {
  return transaction(deps.db, DEFAULT_PROJECT_ID, async (tx) => {
    const stored = await tx.sql<{ id: string; result: string }[]>`
      select id, result from subtasks where project_id = ${DEFAULT_PROJECT_ID} and id = any(${ids as string[]}::uuid[])`
    const rows = stored.map(({ id, result }) => evaluateOne(id, result))
    const [written] = await Promise.all([
      evaluations.insertEvaluations(tx, DEFAULT_PROJECT_ID, rows),
      outbox.publish(
        tx,
        DEFAULT_PROJECT_ID,
        rows.map((row) => evaluationEvent(row, ACTOR)),
      ),
    ])
    return written.length
  })
}

serve(
  {
    async evaluate({ ids }: { ids: string[] }): Promise<{ tookMs: number; written: number }> {
      const batches: string[][] = []
      for (let start = 0; start < ids.length; start += BATCH) batches.push(ids.slice(start, start + BATCH))
      const startMs = machineMs()
      let written = 0
      const work = async () => {
        for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
          const count = await evaluateBatch(batch)
          written += count
        }
      }
      await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, work))
      return { tookMs: machineMs() - startMs, written }
    },
    /** How long each of the worst that an output can be takes. */
    adversarial({ bytes, kinds }: { bytes: number; kinds: number }): Record<string, number> {
      const tookMs: Record<string, number> = {}
      for (const [name, make] of Object.entries(adversarialOutputs(bytes)).slice(0, kinds)) {
        const output = make()
        const startMs = machineMs()
        evaluateOne(deps.newId(), output)
        tookMs[name] = machineMs() - startMs
      }
      return tookMs
    },
  },
  () => deps.close(),
)
