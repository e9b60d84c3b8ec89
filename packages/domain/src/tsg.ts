export const TSG_SEVERITIES = ['low', 'medium', 'high', 'critical'] as const
export type TsgSeverity = (typeof TSG_SEVERITIES)[number]

export const TSG_MATCHES = ['substring', 'regex'] as const
export type TsgMatch = (typeof TSG_MATCHES)[number]

/** A troubleshooting guide: what to do when an agent meets a failure that its patterns describe. */
export interface Tsg {
  tsgId: string
  title: string
  /** Markdown. */
  content: string
  patterns: string[]
  match: TsgMatch
  applicability: { technologies: string[] }
  severity: TsgSeverity
  createdAt: Date
  updatedAt: Date
}
