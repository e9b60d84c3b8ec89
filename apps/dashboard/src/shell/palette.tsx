import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { ListTree, Plus } from 'lucide-react'
import { useState } from 'react'
import { toggleTheme } from '../design/theme.ts'
import { muster } from '../muster.ts'
import { DESTINATIONS } from './navigation.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Goes to any screen, finds ended work by its words, and opens a subtask or task by its id. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const [words, setWords] = useState('')
  const found = useQuery({
    queryKey: ['memory', 'palette', words],
    queryFn: ({ signal }) => muster.memory.search({ q: words, limit: 8 }, { signal }),
    enabled: words.trim().length > 2 && !UUID.test(words),
    placeholderData: (previous) => previous,
  })
  const go = (path: string) => {
    onClose()
    void navigate({ to: path })
  }
  const id = words.trim()
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog palette" aria-label="Search and commands">
          <Command label="Search and commands" shouldFilter={found.data === undefined || words.length < 3}>
            <Command.Input value={words} onValueChange={setWords} placeholder="Go to a screen, paste an id, or search ended work" />
            <Command.List>
              <Command.Empty>Nothing found.</Command.Empty>
              {UUID.test(id) && (
                <Command.Group heading="Open by id" forceMount>
                  <Command.Item forceMount value={`subtask ${id}`} onSelect={() => go(`/subtasks/${id}`)}>
                    Subtask {id}
                  </Command.Item>
                  <Command.Item forceMount value={`task ${id}`} onSelect={() => go(`/tasks/${id}`)}>
                    Task {id}
                  </Command.Item>
                </Command.Group>
              )}
              <Command.Group heading="Screens">
                {DESTINATIONS.map(({ to, label, icon: Icon }) => (
                  <Command.Item key={to} value={label} onSelect={() => go(to)}>
                    <Icon size={16} aria-hidden />
                    {label}
                  </Command.Item>
                ))}
                <Command.Item value="New subtask" onSelect={() => go('/subtasks/new')}>
                  <Plus size={16} aria-hidden />
                  New subtask
                </Command.Item>
                <Command.Item value="New task" onSelect={() => go('/tasks/new')}>
                  <Plus size={16} aria-hidden />
                  New task
                </Command.Item>
                <Command.Item value="Switch between light and dark" onSelect={toggleTheme}>
                  Switch between light and dark
                </Command.Item>
              </Command.Group>
              {words.length > 2 && found.data !== undefined && (
                <Command.Group heading="Ended work">
                  {found.data.items.map((item) =>
                    item.kind === 'episode' ? (
                      <Command.Item key={item.id} value={item.id} onSelect={() => go(`/subtasks/${item.id}`)}>
                        <ListTree size={16} aria-hidden />
                        <span className="title">{(item.task ?? item.id).slice(0, 100)}</span>
                      </Command.Item>
                    ) : null,
                  )}
                </Command.Group>
              )}
            </Command.List>
          </Command>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
