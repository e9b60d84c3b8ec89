import type { Command } from 'commander'
import { usageError } from '../exit-codes.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

/** What the scripts of the shells call. */
const COMPLETE = 'complete-words'

/** That of the library evaluates the words that are typed, and runs a command among them. */
const FISH = `function _muster_completion
  set -l line (commandline -cp)
  set -l found (env COMP_CWORD=(count (commandline -opc)) COMP_LINE="$line" COMP_POINT=(string length -- "$line") SHELL=fish muster ${COMPLETE} 2>/dev/null)
  if test "$found" = __tabtab_complete_files__
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $found
  end
end

complete -f -c muster -a '(_muster_completion)'
`

/** Arguments that are files. */
const FILES = ['file', 'paths']

export function addCompletion(program: Command): void {
  program
    .command('completion <shell>')
    .description('print a script that completes commands in your shell: bash, zsh or fish')
    .addHelpText(
      'after',
      `
  bash  muster completion bash >> ~/.bashrc
  zsh   muster completion zsh >> ~/.zshrc      (after compinit)
  fish  muster completion fish > ~/.config/fish/completions/muster.fish`,
    )
    .action(async (shell: string) => {
      const found = SHELLS.find((each) => each === shell)
      if (found === undefined) throw usageError(`There is a script for ${SHELLS.join(', ')}, not for ${shell}.`)
      if (found === 'fish') return void process.stdout.write(FISH)
      const { getCompletionScript } = await import('@pnpm/tabtab')
      process.stdout.write(await getCompletionScript({ name: 'muster', completer: `muster ${COMPLETE}`, shell: found }))
    })
  program
    .command(COMPLETE, { hidden: true })
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async () => {
      const { default: tabtab } = await import('@pnpm/tabtab')
      const { complete, line } = tabtab.parseEnv(process.env)
      if (!complete) return
      // Without the name of the program, and without the word that is being typed.
      const [, ...words] = line.trimStart().split(/\s+/)
      const typed = words.pop() ?? ''
      const found = candidates(program, words).filter(({ name }) => name.startsWith(typed))
      if (found.length > 0) return tabtab.log(found, tabtab.getShellFromEnv(process.env))
      const command = commandOf(program, words).at(-1)
      if (command?.registeredArguments.some((argument) => FILES.includes(argument.name())) === true) tabtab.logFiles()
    })
}

/** The program and the commands in it that these words name, outermost first. */
export function commandOf(program: Command, words: readonly string[]): Command[] {
  const path = [program]
  for (const word of words) {
    const found = path.at(-1)?.commands.find((each) => each.name() === word)
    if (found !== undefined) path.push(found)
  }
  return path
}

/** Commands and options that may follow these words. */
function candidates(program: Command, words: readonly string[]): { name: string; description: string }[] {
  const command = commandOf(program, words).at(-1) ?? program
  const commands = command.commands.filter((each) => each.name() !== COMPLETE).map((each) => ({ name: each.name(), description: each.description() }))
  const options = command.options.flatMap(({ long, description }) => (long == null ? [] : [{ name: long, description }]))
  return [...commands, ...options]
}
