import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

/** A flame graph as SVG, of a CPU profile of Node (`.cpuprofile`) or of the text of `perf script`. Time in which a process was idle is left out. */
const USAGE = 'node bench/flame-graph.ts <file> --title <text> [--from <seconds since the start of the profile>] > graph.svg'
const WIDTH = 1_200
const ROW = 17
/** Narrower frames cannot be read, and make the file large. In pixels. */
const NARROWEST = 2
const CHARACTER = 6.7
/** What Node's profiler calls time without JavaScript to run; the start of a program is `(root)`. */
const NOT_WORK = new Set(['(idle)', '(root)'])

interface Frame {
  name: string
  weight: number
  children: Map<string, Frame>
}

/** One sample: its frames from the outermost to the innermost, and its share of the time, in any unit. */
interface Sample {
  stack: string[]
  weight: number
}

/** What is read of a profile of V8. The deltas are microseconds. */
interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string }; children?: number[] }[]
  samples: number[]
  timeDeltas: number[]
}

function readCpuProfile(text: string, fromSeconds: number): Sample[] {
  const { nodes, samples, timeDeltas } = JSON.parse(text) as CpuProfile
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const names = new Map(nodes.map(({ id, callFrame }) => [id, frameName(callFrame)]))
  let micros = 0
  return samples.flatMap((node, index) => {
    const weight = timeDeltas[index] as number
    micros += weight
    const stack: string[] = []
    for (let id: number | undefined = node; id !== undefined; id = parents.get(id)) stack.unshift(names.get(id) as string)
    const isWork = micros >= fromSeconds * 1_000_000 && !NOT_WORK.has(stack.at(-1) as string)
    return isWork ? [{ stack: stack.filter((name) => name !== '(root)'), weight }] : []
  })
}

/** The function with the package or program that it belongs to. */
function frameName({ functionName, url }: { functionName: string; url: string }): string {
  const name = functionName === '' ? '(anonymous)' : functionName
  if (url.startsWith('node:')) return `${name} [node]`
  const packages = [...url.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)]
  const place = packages.at(-1)?.[1] ?? /((?:apps|packages|bench)\/[^/]+)/.exec(url)?.[1]
  return place === undefined || place === '.pnpm' ? name : `${name} [${place}]`
}

/** Each sample is a line that names the process, a line for each frame from the innermost to the outermost, and an empty line. */
function readPerfScript(text: string): Sample[] {
  return text.split('\n\n').flatMap((block) => {
    const frames = block.split('\n').slice(1)
    const stack = frames.flatMap((line) => /^\s+[0-9a-f]+ (.+?)(?:\+0x[0-9a-f]+)? \(/.exec(line)?.[1] ?? []).reverse()
    return stack.length === 0 ? [] : [{ stack, weight: 1 }]
  })
}

function toTree(samples: readonly Sample[]): Frame {
  const root: Frame = { name: 'all', weight: 0, children: new Map() }
  for (const { stack, weight } of samples) {
    let frame = root
    frame.weight += weight
    for (const name of stack) {
      const child: Frame = frame.children.get(name) ?? { name, weight: 0, children: new Map() }
      frame.children.set(name, child)
      child.weight += weight
      frame = child
    }
  }
  return root
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

function depthOf(frame: Frame, scale: number): number {
  const shown = [...frame.children.values()].filter((child) => child.weight * scale >= NARROWEST)
  return 1 + Math.max(0, ...shown.map((child) => depthOf(child, scale)))
}

function draw(root: Frame, title: string): string {
  const scale = WIDTH / root.weight
  const height = (depthOf(root, scale) + 2) * ROW
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="11">`,
    `<rect width="100%" height="100%" fill="#fff"/><text x="6" y="${ROW}">${escaped(title)}</text>`,
  ]
  const add = (frame: Frame, x: number, depth: number) => {
    const width = frame.weight * scale
    if (width < NARROWEST) return
    const y = height - depth * ROW
    // The same function has the same colour everywhere.
    const shade = [...frame.name].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 40, 7)
    const label = frame.name.slice(0, Math.max(0, Math.floor((width - 4) / CHARACTER)))
    parts.push(
      `<g><title>${escaped(frame.name)} ${((100 * frame.weight) / root.weight).toFixed(1)} %</title>` +
        `<rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 1}" fill="hsl(${30 + shade} 65% 62%)"/>` +
        `${label.length < 3 ? '' : `<text x="${(x + 2).toFixed(1)}" y="${y + 12}">${escaped(label)}</text>`}</g>`,
    )
    let left = x
    for (const child of [...frame.children.values()].sort((a, b) => b.weight - a.weight)) {
      add(child, left, depth + 1)
      left += child.weight * scale
    }
  }
  add(root, 0, 1)
  return `${parts.join('\n')}\n</svg>\n`
}

const { values, positionals } = parseArgs({ options: { title: { type: 'string' }, from: { type: 'string', default: '0' } }, allowPositionals: true })
const [file] = positionals
if (file === undefined || values.title === undefined || !(Number(values.from) >= 0)) {
  console.error(USAGE)
  process.exit(2)
}
const text = readFileSync(file, 'utf8')
const samples = file.endsWith('.cpuprofile') ? readCpuProfile(text, Number(values.from)) : readPerfScript(text)
if (samples.length === 0) {
  console.error(`${file} holds no samples of work${values.from === '0' ? '' : ` after ${values.from} s`}.`)
  process.exit(1)
}
process.stdout.write(draw(toTree(samples), values.title))
