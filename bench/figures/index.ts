import type { Figure } from '../instrument/figure.ts'
import { startLatency } from './start-latency.ts'

/** Every figure, in the order of the table. */
export const figures: Figure[] = [startLatency]
