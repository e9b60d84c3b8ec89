/** Names of agents, each a lane of its own. */
export function agentNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `agent-${index}`)
}
