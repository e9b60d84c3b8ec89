/** Lengths in Unicode code points after trimming, counts after blanks and repetitions are gone. [EN] 4, and the contract for the rest. */
export const BRIEF_LIMITS = {
  title: 256,
  instructions: 100_000,
  descriptionMin: 10,
  description: 500,
  acceptanceCriteria: 50,
  acceptanceCriterion: 2_000,
  requiredOutputs: 50,
  outputName: 128,
  outputDescription: 2_000,
  background: 5_000,
  deliverables: 20,
  successCriteria: 15,
  constraints: 15,
  /** An item of the three lists above. */
  item: 200,
  files: 50,
  documents: 20,
  /** A path or an address. */
  path: 4_096,
  tsgs: 50,
  dependsOn: 50,
  sessionId: 128,
  metadataBytes: 16_384,
} as const
