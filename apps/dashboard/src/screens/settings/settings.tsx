import { Page } from '../../design/panel.tsx'
import { Keys } from './keys.tsx'
import { ProjectSettingsPanel } from './project-settings.tsx'

/** The project and its keys. */
export function Settings() {
  return (
    <Page title="Settings">
      <div className="stack">
        <ProjectSettingsPanel />
        <Keys />
      </div>
    </Page>
  )
}
