/** What the chart of scores shows. */
export const SCORES_OF = { day: 'All outputs, by day', subagent: 'By sub-agent', criterion: 'By criterion' } as const
