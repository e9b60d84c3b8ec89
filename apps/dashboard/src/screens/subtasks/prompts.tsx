import type { SentPrompt, Subtask } from '@muster/client'
import { useQuery } from '@tanstack/react-query'
import { CodeBlock } from '../../design/code-block.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Panel } from '../../design/panel.tsx'
import { Time } from '../../design/time.tsx'
import { promptsQuery } from './queries.ts'

/** What each attempt sent first, exactly as it was sent: the newest above. */
export function Prompts({ subtask }: { subtask: Subtask }) {
  const query = useQuery(promptsQuery(subtask.id))
  return (
    <Loaded query={query}>
      {(prompts) =>
        prompts.length === 0 ? (
          <p className="empty">{reasonFor(subtask)}</p>
        ) : (
          <div className="stack">
            {prompts.toReversed().map((prompt) => (
              <Prompt key={prompt.attempt} prompt={prompt} />
            ))}
          </div>
        )
      }
    </Loaded>
  )
}

function reasonFor({ runner, attempt }: Subtask): string {
  if (runner === 'external') return 'An outside worker gets its prompt with the claim. What it sends to a model is not known here.'
  return attempt === 0 ? 'Nothing has been sent yet.' : 'No prompt is kept: nothing was sent, or it is older than transcripts are kept.'
}

function Prompt({ prompt }: { prompt: SentPrompt }) {
  const { attempt, system, message, is_continued: isContinued, is_cut: isCut, at } = prompt
  return (
    <Panel title={`Sent in attempt ${attempt}`} count={isCut ? 'cut to 256 KiB' : undefined} actions={<Time at={at} />}>
      <div className="stack prompt">
        {system !== null && (
          <>
            <h3>Instructions</h3>
            <CodeBlock text={system} />
          </>
        )}
        {isContinued && <p className="hint">The conversation of the attempt before goes on here: the transcript has it.</p>}
        {message !== null && (
          <>
            <h3>{system === null ? 'Prompt' : 'First message'}</h3>
            <CodeBlock text={message} />
          </>
        )}
      </div>
    </Panel>
  )
}
