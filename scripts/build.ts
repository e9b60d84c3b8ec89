import { buildDashboard } from './system/dashboard.ts'
import { reportFailure } from './system/report.ts'

const HELP = `Usage: npm run build

Builds the dashboard (apps/dashboard) into apps/dashboard/dist, which the API serves. Nothing else of Muster needs a build. npm start does the same
when the sources are newer than the build.
`

if (process.argv.includes('--help')) {
  console.log(HELP)
} else {
  try {
    console.log((await buildDashboard(console.log)) ? 'Built.' : 'The build is up to date.')
  } catch (error) {
    reportFailure(error)
    process.exitCode = 1
  }
}
