import { copyFile, glob, mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, delimiter, dirname, join } from 'node:path'
import { run } from '../../scripts/check/command.ts'
import { pythonWith } from '../../scripts/check/python-venv.ts'
import { repositoryRoot } from '../../scripts/check/report.ts'

const DOCUMENT = join(repositoryRoot, 'openapi.yaml')
const JOURNEYS = join(import.meta.dirname, 'journeys')

const PYTHON = ['openapi-python-client==0.29.1', 'mypy==2.4.1']
const GO = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2'
const GO_RUNTIME = 'github.com/oapi-codegen/runtime@v1.8.0'
const TYPESCRIPT = ['@hey-api/openapi-ts@0.99.0', 'typescript@6.0.3']

/** A program of a toolchain, how it tells its version, and the first version that will do: `[3, 10]` for 3.10. */
interface Program {
  argv: readonly [program: string, ...args: string[]]
  atLeast: readonly [major: number, minor: number]
}

/** A generator of clients, and what a user of it does next, with the toolchain of its language. Each step works in `folder` and throws what its tools said. */
export interface Generator {
  name: string
  toolchain: readonly Program[]
  generate: (folder: string) => Promise<void>
  /** The operations that the client has, in whatever case its language writes them. */
  operations: (folder: string) => Promise<string[]>
  /** Compiles client and journey under the strictest flags that the templates of the generator themselves stand. */
  compile: (folder: string) => Promise<void>
  /** How the compiled journey is started. */
  journey: (folder: string) => Promise<readonly [program: string, ...args: string[]]>
}

/** What is missing of a toolchain, if anything is. */
export async function missing({ toolchain }: Generator): Promise<string | undefined> {
  for (const { argv, atLeast } of toolchain) {
    const [program, ...args] = argv
    const { ok, output } = await run(program, args)
    if (!ok) return `there is no ${program}`
    const [, major, minor] = (/(\d+)\.(\d+)/.exec(output) ?? []).map(Number)
    if (major === undefined || minor === undefined || major < atLeast[0] || (major === atLeast[0] && minor < atLeast[1]))
      return `it takes ${program} ${atLeast.join('.')} or newer, and \`${argv.join(' ')}\` says ${output.trim()}`
  }
  return undefined
}

/** Runs a tool, which has to end well. @throws Error with all that it wrote */
async function tool(cwd: string, program: string, args: readonly string[], env?: Record<string, string>): Promise<void> {
  const { ok, output } = await run(program, args, { cwd, ...(env && { env }) })
  if (!ok) throw new Error(`${program} ${args.join(' ').slice(0, 300)}\n${output.slice(0, 5_000)}`)
}

async function filesOf(folder: string, pattern: string): Promise<string[]> {
  const paths: string[] = []
  for await (const path of glob(pattern, { cwd: folder })) paths.push(path)
  return paths
}

/** What an expression captures in the files of a client. */
async function captured(folder: string, pattern: string, expression: RegExp): Promise<string[]> {
  const texts = await Promise.all((await filesOf(folder, pattern)).map((path) => readFile(join(folder, path), 'utf8')))
  return texts.flatMap((text) => [...text.matchAll(expression)].map(([, name = '']) => name))
}

const python: Generator = {
  name: 'Python, by openapi-python-client',
  toolchain: [{ argv: ['python3', '--version'], atLeast: [3, 11] }],
  async generate(folder) {
    const program = await pythonWith(PYTHON)
    const options = ['--config', join(import.meta.dirname, 'openapi-python-client.yaml'), '--meta', 'none', '--fail-on-warning']
    // It formats what it has generated with the ruff beside it.
    const PATH = `${dirname(program)}${delimiter}${process.env.PATH}`
    await tool(folder, program, ['-m', 'openapi_python_client', 'generate', '--path', DOCUMENT, '--output-path', 'generated', ...options], { PATH })
  },
  async operations(folder) {
    return (await filesOf(folder, 'generated/api/*/*.py')).map((path) => basename(path, '.py')).filter((name) => name !== '__init__')
  },
  async compile(folder) {
    // `__exit__` in a file of the generator that is the same for every document passes its arguments on untyped.
    await writeFile(join(folder, 'mypy.ini'), '[mypy]\nstrict = True\n[mypy-generated.client]\ndisable_error_code = arg-type\n')
    await copyFile(join(JOURNEYS, 'journey.py'), join(folder, 'journey.py'))
    await tool(folder, await pythonWith(PYTHON), ['-m', 'mypy', '-p', 'generated', '-m', 'journey'])
  },
  journey: async (folder) => [await pythonWith(PYTHON), join(folder, 'journey.py')],
}

const go: Generator = {
  name: 'Go, by oapi-codegen',
  toolchain: [{ argv: ['go', 'version'], atLeast: [1, 24] }],
  async generate(folder) {
    await mkdir(join(folder, 'generated'))
    await tool(folder, 'go', ['run', GO, '-generate', 'types,client', '-package', 'generated', '-o', 'generated/muster.go', DOCUMENT])
  },
  operations: (folder) => captured(folder, 'generated/muster.go', /^func \(c \*ClientWithResponses\) (\w+?)(?:WithBody)?WithResponse\(/gm),
  async compile(folder) {
    await writeFile(join(folder, 'go.mod'), 'module muster.test/client\n\ngo 1.24\n')
    await copyFile(join(JOURNEYS, 'journey.go'), join(folder, 'journey.go'))
    await tool(folder, 'go', ['get', GO_RUNTIME])
    await tool(folder, 'go', ['mod', 'tidy'])
    await tool(folder, 'go', ['vet', './...'])
    await tool(folder, 'go', ['build', '-o', 'journey', '.'])
  },
  journey: async (folder) => [join(folder, 'journey')],
}

const typescript: Generator = {
  name: 'TypeScript, by hey-api',
  toolchain: [{ argv: ['npm', '--version'], atLeast: [9, 0] }],
  async generate(folder) {
    await writeFile(join(folder, 'package.json'), '{"type": "module"}')
    // Before it generates, because the generator writes imports with or without an extension by the nearest tsconfig.json.
    const compilerOptions = {
      target: 'ES2022',
      module: 'NodeNext',
      lib: ['ES2022', 'DOM', 'DOM.Iterable'],
      outDir: 'dist',
      typeRoots: [join(repositoryRoot, 'node_modules', '@types')],
      types: ['node'],
      // All but exactOptionalPropertyTypes, which the files that are the same for every document do not stand.
      strict: true,
      isolatedModules: true,
      noFallthroughCasesInSwitch: true,
      noImplicitOverride: true,
      noImplicitReturns: true,
      noPropertyAccessFromIndexSignature: true,
      noUncheckedIndexedAccess: true,
      noUnusedLocals: true,
      noUnusedParameters: true,
      verbatimModuleSyntax: true,
    }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['journey.ts'] }))
    await tool(folder, 'npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...TYPESCRIPT])
    await tool(folder, join(folder, 'node_modules', '.bin', 'openapi-ts'), ['--input', DOCUMENT, '--output', 'generated', '--client', '@hey-api/client-fetch'])
  },
  operations: (folder) => captured(folder, 'generated/sdk.gen.ts', /^export const (\w+) = </gm),
  async compile(folder) {
    await copyFile(join(JOURNEYS, 'journey.ts.txt'), join(folder, 'journey.ts'))
    await tool(folder, join(folder, 'node_modules', '.bin', 'tsc'), ['--project', folder])
  },
  journey: async (folder) => [process.execPath, join(folder, 'dist', 'journey.js')],
}

/** For programs of seconds: to compile the compiler well takes longer than it saves. */
const SHORT_LIVED = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']

const java = (library: 'native' | 'okhttp-gson'): Generator => ({
  name: `Java, by openapi-generator for ${library}`,
  toolchain: [
    { argv: ['javac', '-version'], atLeast: [17, 0] },
    { argv: ['mvn', '--version'], atLeast: [3, 6] },
  ],
  async generate(folder) {
    const goals = ['generate-sources', 'dependency:build-classpath', `-Dmdep.outputFile=${join(folder, 'classpath')}`]
    await tool(
      folder,
      'mvn',
      ['--quiet', '--batch-mode', '--file', join(import.meta.dirname, 'pom.xml'), `-Dfolder=${folder}`, `-Dlibrary=${library}`, ...goals],
      {
        MAVEN_OPTS: SHORT_LIVED.join(' '),
      },
    )
  },
  operations: (folder) => captured(folder, 'generated/src/main/java/**/api/*Api.java', /^ {2,4}(?:public|private) .*? (\w+)WithHttpInfo\(/gm),
  async compile(folder) {
    const libraries = await readFile(join(folder, 'classpath'), 'utf8')
    const sources = await filesOf(folder, 'generated/src/main/java/**/*.java')
    await writeFile(join(folder, 'sources'), sources.join('\n'))
    const options = [...SHORT_LIVED.map((option) => `-J${option}`), '-proc:none', '-Werror', '-d', join(folder, 'classes')]
    // These three are how its templates are written: nothing of a document can avoid them.
    await tool(folder, 'javac', [...options, '-Xlint:all,-deprecation,-rawtypes,-serial', '-cp', libraries, '@sources'])
    await tool(folder, 'javac', [
      ...options,
      '-Xlint:all',
      '-cp',
      `${join(folder, 'classes')}${delimiter}${libraries}`,
      join(JOURNEYS, library, 'Journey.java'),
    ])
  },
  async journey(folder) {
    return ['java', '-cp', `${join(folder, 'classes')}${delimiter}${await readFile(join(folder, 'classpath'), 'utf8')}`, 'Journey']
  },
})

export const GENERATORS: readonly Generator[] = [python, go, typescript, java('native'), java('okhttp-gson')]
