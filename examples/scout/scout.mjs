#!/usr/bin/env node
/**
 * Scout: a small program that runs subtasks. It inspects a folder and reports, without a model and without dependencies.
 * It is an example: `main` shows the protocol of a `command` runner, the other files inspect folders.
 */
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { askForBrief, readUpdate } from './brief.mjs'
import { createOrders, takeUpdate } from './orders.mjs'
import { outputValue, unservable } from './outputs.mjs'
import { plural, report } from './report.mjs'
import { findTarget } from './target.mjs'
import { inspectFolder, LIMITS, listFolders } from './walk.mjs'

const HERE = dirname(fileURLToPath(import.meta.url))
/** Long enough to steer or cancel it by hand, for a folder of any size. */
const VISIBLE_MS = 3_000
const MAX_PACE_MS = 1_500
/** The folders of a quick look: the folder itself. */
const QUICK_FOLDERS = 1

/** One line of the protocol. */
function say(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

function step(content, kind = 'message') {
  say({ type: 'step', kind, content })
}

/** Reads the JSON lines of standard input: resolves with the first line of type `brief`, and collects the updates that follow. */
function listen() {
  const updates = []
  const input = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
  const brief = new Promise((take) => {
    input.on('line', (text) => {
      const line = parse(text)
      if (line?.type === 'brief') take(line)
      else if (line?.type === 'update') updates.push(line)
    })
    input.once('close', () => take(null))
  })
  const close = () => {
    input.close()
    process.stdin.destroy()
  }
  return { brief, updates, close }
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    console.error(`scout: not JSON, ignored: ${text.slice(0, 200)}`)
    return null
  }
}

/** Milliseconds to rest after each folder: as configured, or so that the run takes a few seconds. */
function paceMs(folderCount) {
  const configured = Number(process.env.SCOUT_PACE_MS)
  return process.env.SCOUT_PACE_MS && configured >= 0 ? configured : Math.min(MAX_PACE_MS, Math.round(VISIBLE_MS / folderCount))
}

async function main() {
  const { brief: whenBriefed, updates, close } = listen()
  let brief = await whenBriefed
  if (brief === null) return say({ type: 'error', error: 'The input ended before a brief came.', retryable: false })
  const end = (line) => {
    say(line)
    close()
  }

  const target = findTarget(String(brief.task ?? ''), resolve(process.env.SCOUT_ROOT || resolve(HERE, '../..')))
  if (target.problem) return end({ type: 'blocked', reason: target.problem })
  const unknown = unservable(brief.required_outputs ?? [])
  if (unknown) return end({ type: 'blocked', reason: unknown })
  if (brief.feedback) step(`The last result was refused: ${brief.feedback}`)

  const orders = createOrders({ task: String(brief.task ?? ''), text: brief.text })
  const found = { folder: target.name, folders: 0, skipped: 0, files: [], unread: 0, links: 0, isBounded: false }
  const finish = () => report(brief, found, orders)

  // Cancelled, timed out or released: report the folders read so far. The exit code says that the report is incomplete.
  process.once('SIGTERM', () => {
    step(`Stopped after ${plural(found.folders, 'folder')}.`)
    process.stdout.write(`${JSON.stringify({ type: 'result', result: finish().text })}\n`, () => process.exit(143))
  })

  const all = listFolders(target.path)
  const folders = orders.isQuick ? all.slice(0, QUICK_FOLDERS) : all
  found.skipped = all.length - folders.length
  found.isBounded = all.length >= LIMITS.folders
  const pace = paceMs(folders.length)
  step(`Inspecting ${target.name}: ${plural(folders.length, 'folder')}${found.skipped > 0 ? `, and ${found.skipped} that a quick look leaves out` : ''}.`)

  // One more pass after the last folder takes updates that arrived while it was read.
  for (const folder of [...folders, null]) {
    for (const update of updates.splice(0)) {
      const { said, revision, changesBrief } = readUpdate(String(update.text ?? ''))
      step(takeUpdate(orders, { text: said }))
      if (revision !== null) brief = { ...brief, revision }
      if (changesBrief) brief = { ...brief, ...(await askForBrief(brief.task_id)) }
      say({ type: 'ack', update_id: update.update_id })
    }
    const unknownNow = unservable(brief.required_outputs ?? [])
    if (unknownNow) return end({ type: 'blocked', reason: unknownNow })
    if (folder === null || found.files.length >= LIMITS.files) continue
    const read = inspectFolder(target.path, folder)
    found.folders += 1
    found.files.push(...read.files.slice(0, LIMITS.files - found.files.length))
    found.unread += read.unread
    found.links += read.links
    if (found.files.length >= LIMITS.files) found.isBounded = true
    say({ type: 'usage', tool_calls: 1 })
    const lines = read.files.reduce((sum, file) => sum + file.lines, 0)
    step(`${join(target.name, folder)}: ${plural(read.files.length, 'file')}, ${plural(lines, 'line')}`)
    if (pace > 0) await delay(pace)
  }

  const { text, summary, statistics } = finish()
  for (const output of brief.required_outputs ?? []) say({ type: 'output', name: output.name, value: outputValue(output, statistics, text) })
  end({ type: 'result', result: text, summary })
}

await main()
