import { buildDashboard } from '../../scripts/system/dashboard.ts'

/** Once before the files, of which two that start the system at the same time would both build it. */
export default async function setup(): Promise<void> {
  await buildDashboard(() => {})
}
