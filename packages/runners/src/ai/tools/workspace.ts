import { constants, existsSync, realpathSync } from 'node:fs'
import { type FileHandle, mkdir, open, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { ToolError } from './tool.ts'

/**
 * A folder that file tools cannot leave, whatever paths they are given and whatever links lie in it. A path is judged by what it is
 * after links have been resolved, and the file is then opened without following a link once more; on Linux through the folder that was
 * judged, which is held open, so that nothing can be exchanged in between.
 */
export interface Workspace {
  /** The folder itself, without links in its path. */
  readonly root: string
  /** Opens a file to read. @throws ToolError */
  openFile(path: string): Promise<FileHandle>
  /** Opens a file to be written from its beginning, and makes the folders above it. @throws ToolError */
  createFile(path: string): Promise<FileHandle>
  /** The real path of a folder. @throws ToolError */
  folder(path: string): Promise<string>
  /** How a path inside is called. */
  nameOf(realPath: string): string
  /** What a path leads to, without detours and links, and relative to the workspace, whether it is there or not: rules about paths are about this. */
  whereTo(path: string): string
}

/** Where Linux shows what a descriptor has open. */
const DESCRIPTORS = '/proc/self/fd'

export async function openWorkspace(path: string): Promise<Workspace> {
  const root = await realpath(path)
  const isInside = (realPath: string) => realPath === root || realPath.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)

  function refuse(given: string): never {
    throw new ToolError(`${given} is outside of your workspace. Only files of the workspace can be used; give paths relative to it.`)
  }

  /** What a path names, not yet resolved. */
  function locate(given: string): string {
    if (given === '' || given.includes('\0')) throw new ToolError('The path is empty, or no path.')
    const located = resolve(root, given)
    // An absolute path may name the workspace by a way that leads through links; its real one is judged later.
    return isAbsolute(given) ? located : isInside(located) ? located : refuse(given)
  }

  async function realInside(located: string, given: string): Promise<string> {
    const real = await realpath(located).catch((error: unknown) => explain(error, given, isInside(located)))
    return isInside(real) ? real : refuse(given)
  }

  /** Opens a file by its judged folder and its last name, which may not be a link. */
  async function openIn(folder: string, name: string, flags: number, given: string): Promise<FileHandle> {
    const held = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch((error: unknown) => explain(error, given, true))
    try {
      const through = join(DESCRIPTORS, String(held.fd))
      const hasDescriptors = existsSync(through)
      if (hasDescriptors && !isInside(await realpath(through))) refuse(given)
      const file = await open(join(hasDescriptors ? through : folder, name), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o644).catch(
        (error: unknown) => explain(error, given, true),
      )
      // A pipe, a device or a socket is nobody's notes.
      if ((await file.stat()).isFile()) return file
      await file.close()
      throw new ToolError(`${given} is not a file.`)
    } finally {
      await held.close()
    }
  }

  return {
    root,
    async openFile(given) {
      const real = await realInside(locate(given), given)
      if (real === root) throw new ToolError(`${given} is a folder.`)
      return await openIn(dirname(real), basename(real), constants.O_RDONLY, given)
    },
    async createFile(given) {
      const located = locate(given)
      const folder = dirname(located)
      const missing: string[] = []
      let existing = folder
      for (let parent = existing; ; parent = dirname(parent)) {
        existing = parent
        if (await isThere(parent)) break
        missing.unshift(basename(parent))
      }
      const realParent = await realInside(existing, given)
      const realFolder = join(realParent, ...missing)
      if (missing.length > 0) await mkdir(realFolder, { recursive: true }).catch((error: unknown) => explain(error, given, true))
      // An existing file may be a link to another file of the workspace.
      const target = join(await realInside(realFolder, given), basename(located))
      const real = (await isThere(target)) ? await realInside(target, given) : target
      const file = await openIn(dirname(real), basename(real), constants.O_WRONLY | constants.O_CREAT, given)
      await file.truncate(0)
      return file
    },
    folder: (given) => realInside(locate(given), given),
    nameOf: (realPath) => relative(root, realPath) || '.',
    whereTo: (given) => relative(root, resolvedSoFar(resolve(root, given))) || '.',
  }
}

/** A path with the links in it resolved, as far as it exists. */
function resolvedSoFar(path: string): string {
  const missing: string[] = []
  for (let existing = path; ; existing = dirname(existing)) {
    try {
      return join(realpathSync(existing), ...missing)
    } catch {
      missing.unshift(basename(existing))
    }
  }
}

async function isThere(path: string): Promise<boolean> {
  return await realpath(path).then(
    () => true,
    () => false,
  )
}

/** What a system error means for the model. Of what lies outside it is not even said whether it is there. */
function explain(error: unknown, given: string, isInside: boolean): never {
  if (!isInside) throw new ToolError(`${given} is outside of your workspace. Only files of the workspace can be used; give paths relative to it.`)
  const { code } = error as NodeJS.ErrnoException
  const reasons: Record<string, string> = {
    ENOENT: 'does not exist',
    EACCES: 'may not be used',
    EPERM: 'may not be used',
    EISDIR: 'is a folder',
    ENOTDIR: 'leads through something that is no folder',
    EEXIST: 'leads through something that is no folder',
    ELOOP: 'is a link that may not be followed',
    ENAMETOOLONG: 'is too long a path',
    ENXIO: 'is not a file',
    ENOSPC: 'cannot be written: the disk is full',
  }
  throw new ToolError(`${given} ${reasons[code ?? ''] ?? `cannot be used (${code ?? 'unknown error'})`}.`)
}
