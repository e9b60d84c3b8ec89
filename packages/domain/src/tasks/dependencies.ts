/** One task waits for another. */
export interface DependencyEdge {
  taskId: string
  dependsOn: string
}

/**
 * Whether a task would wait for itself, and over whom: the shortest such path, from the task back to it, or null. `edges` are what is
 * stored of the tasks that can be reached; those of the task itself do not count, since `dependsOn` takes their place.
 */
export function findCycle(taskId: string, dependsOn: readonly string[], edges: Iterable<DependencyEdge>): string[] | null {
  const next = new Map<string, string[]>()
  for (const edge of edges) {
    const known = next.get(edge.taskId)
    if (known === undefined) next.set(edge.taskId, [edge.dependsOn])
    else known.push(edge.dependsOn)
  }
  next.set(taskId, [...dependsOn])
  /** Who was met, and from where: breadth first, so that the path found is the shortest. */
  const cameFrom = new Map<string, string>()
  const waiting = [taskId]
  for (const from of waiting) {
    for (const to of next.get(from) ?? []) {
      if (to === taskId) return [...pathTo(from, cameFrom), taskId]
      if (cameFrom.has(to)) continue
      cameFrom.set(to, from)
      waiting.push(to)
    }
  }
  return null
}

function pathTo(end: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const path = [end]
  for (let from = cameFrom.get(end); from !== undefined; from = cameFrom.get(from)) path.push(from)
  return path.reverse()
}
