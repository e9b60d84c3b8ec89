import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Command, defaultFilter } from 'cmdk'
import { ListTree, Plus } from 'lucide-react'
import { useState } from 'react'
import { toggleTheme } from '../design/theme.ts'
import { muster } from '../muster.ts'
import { DESTINATIONS } from './navigation.ts'

/** Below it the letters are there, in their order, but far from each other. */
const SCORE_MIN = 0.1

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Goes to any screen, finds ended work by its words, and opens a subtask or task by its id. */
export default function Palette({ takeTyped, onClose }: { takeTyped: () => string; onClose: () => void }) {
  const navigate = useNavigate()
  const [words, setWords] = useState('')
  const found = useQuery({
    queryKey: ['memory', 'palette', words],
    queryFn: ({ signal }) => muster.memory.search({ q: words, limit: 8 }, { signal }),
    enabled: words.trim().length > 2 && !UUID.test(words),
  })
  const go = (path: string) => {
    onClose()
    void navigate({ to: path })
  }
  const id = words.trim()
  // Sorted here, not by the component: it would sort what the server has found as well, which comes later and would take the place of a screen.
  const commands = [
    ...DESTINATIONS.map(({ to, label, icon }) => ({ label, icon, run: () => go(to) })),
    { label: 'New subtask', icon: Plus, run: () => go('/subtasks/new') },
    { label: 'New task', icon: Plus, run: () => go('/tasks/new') },
    { label: 'Switch between light and dark', icon: undefined, run: toggleTheme },
  ]
  const matching = sortBy(commands, ({ label }) => (id === '' ? 1 : defaultFilter(label, id)))
  const episodes = id.length > 2 && !UUID.test(id) ? (found.data?.items ?? []).filter((item) => item.kind === 'episode') : []
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog palette" aria-label="Search and commands">
          <Command label="Search and commands" shouldFilter={false}>
            <Command.Input
              value={words}
              onValueChange={setWords}
              onFocus={() => setWords(words + takeTyped())}
              placeholder="Go to a screen, paste an id, or search ended work"
            />
            <Command.List>
              <Command.Empty>Nothing found.</Command.Empty>
              {UUID.test(id) && (
                <Command.Group heading="Open by id">
                  <Command.Item value={`subtask ${id}`} onSelect={() => go(`/subtasks/${id}`)}>
                    Subtask {id}
                  </Command.Item>
                  <Command.Item value={`task ${id}`} onSelect={() => go(`/tasks/${id}`)}>
                    Task {id}
                  </Command.Item>
                </Command.Group>
              )}
              {matching.length > 0 && (
                <Command.Group heading="Screens">
                  {matching.map(({ label, icon: Icon, run }) => (
                    <Command.Item key={label} value={label} onSelect={run}>
                      {Icon !== undefined && <Icon size={16} aria-hidden />}
                      {label}
                    </Command.Item>
                  ))}
                </Command.Group>
              )}
              {episodes.length > 0 && (
                <Command.Group heading="Ended work">
                  {episodes.map((item) => (
                    <Command.Item key={item.id} value={item.id} onSelect={() => go(`/subtasks/${item.id}`)}>
                      <ListTree size={16} aria-hidden />
                      <span className="title">{(item.task ?? item.id).slice(0, 100)}</span>
                    </Command.Item>
                  ))}
                </Command.Group>
              )}
            </Command.List>
          </Command>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

/** Those with a score that counts, the highest first; equal ones in their order. */
function sortBy<T>(items: readonly T[], score: (item: T) => number): T[] {
  return items
    .map((item) => ({ item, score: score(item) }))
    .filter((scored) => scored.score >= SCORE_MIN)
    .sort((one, other) => other.score - one.score)
    .map(({ item }) => item)
}
