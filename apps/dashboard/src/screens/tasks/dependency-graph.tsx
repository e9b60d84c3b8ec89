import { Graph as LayeredGraph, layout } from '@dagrejs/dagre'
import type { Task } from '@muster/client'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { Badge } from '../../design/badge.tsx'

/** Of a box, in pixels. */
const WIDTH = 200
const HEIGHT = 56
const MARGIN = 16

interface Placed {
  task: Task
  left: number
  top: number
}

/** Layers from left to right: what has to be done first stands first. */
function place(tasks: readonly Task[]) {
  const graph = new LayeredGraph()
  graph.setGraph({ rankdir: 'LR', nodesep: 16, ranksep: 40, marginx: MARGIN, marginy: MARGIN })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { id } of tasks) graph.setNode(id, { width: WIDTH, height: HEIGHT })
  for (const { id, depends_on } of tasks) for (const earlier of depends_on) if (graph.hasNode(earlier)) graph.setEdge(earlier, id)
  layout(graph)
  const boxes: Placed[] = tasks.map((task) => {
    const { x, y } = graph.node(task.id) as { x: number; y: number }
    return { task, left: x - WIDTH / 2, top: y - HEIGHT / 2 }
  })
  const lines: string[] = graph
    .edges()
    .map((edge: { v: string; w: string }) => (graph.edge(edge) as { points: { x: number; y: number }[] }).points.map(({ x, y }) => `${x},${y}`).join(' '))
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number }
  return { boxes, lines, width, height }
}

export default function DependencyGraph({ tasks, currentId }: { tasks: Task[]; currentId: string }) {
  const { boxes, lines, width, height } = useMemo(() => place(tasks), [tasks])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard.
    <section className="graph" aria-label="Graph of dependencies" tabIndex={0}>
      <div className="graph-inner" style={{ width, height }}>
        <svg width={width} height={height} aria-hidden="true">
          <defs>
            <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M0 0 8 4 0 8z" fill="currentColor" />
            </marker>
          </defs>
          {lines.map((points) => (
            <polyline key={points} points={points} fill="none" stroke="currentColor" markerEnd="url(#arrow)" />
          ))}
        </svg>
        <ul>
          {boxes.map(({ task, left, top }) => (
            <li key={task.id} style={{ left, top, width: WIDTH, height: HEIGHT }} data-current={task.id === currentId || undefined}>
              <Link to="/tasks/$id" params={{ id: task.id }} aria-current={task.id === currentId ? 'page' : undefined}>
                {task.title}
              </Link>
              <span className="row">
                <Badge status={task.status} />
                {task.depends_on.length > 0 && <span className="visually-hidden">depends on {namesOf(task, tasks)}</span>}
              </span>
            </li>
          ))}
        </ul>
      </div>
    </section>
  )
}

/** The edges in words. */
const namesOf = ({ depends_on }: Task, tasks: readonly Task[]) => depends_on.map((id) => tasks.find((each) => each.id === id)?.title ?? id).join(', ')
