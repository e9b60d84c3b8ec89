import { randomUUID } from 'node:crypto'
import { constants, existsSync, lstatSync, realpathSync, renameSync, type Stats } from 'node:fs'
import { type FileHandle, link, mkdir, open, realpath, rm } from 'node:fs/promises'
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
  /** Makes a file that must not exist yet, and the folders above it. Other readers see the whole file or none. @throws ToolError */
  addFile(path: string, bytes: Buffer): Promise<void>
  /**
   * Replaces the content of a file and keeps its mode. `change` gets the old content. Other readers see the old content or the new one, also after a
   * crash or on a full disk. Fails when another process writes the file meanwhile.
   *
   * @throws ToolError, also for a file of more than `bytesMax` bytes
   */
  changeFile(path: string, bytesMax: number, change: (content: Buffer) => Buffer): Promise<void>
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
    const real = await realpath(located).catch((error: unknown) => explain(error, given, isInside(resolvedSoFar(located))))
    return isInside(real) ? real : refuse(given)
  }

  /** Opens a folder that was judged, and gives a path to it that keeps leading there when the folder is moved or exchanged. */
  async function holdFolder(folder: string, given: string) {
    const held = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch((error: unknown) => explain(error, given, true))
    try {
      const through = join(DESCRIPTORS, String(held.fd))
      const hasDescriptors = existsSync(through)
      if (hasDescriptors && !isInside(await realpath(through))) refuse(given)
      return { path: hasDescriptors ? through : folder, [Symbol.asyncDispose]: () => held.close() }
    } catch (error) {
      await held.close()
      throw error
    }
  }

  /** Opens a file by its judged folder and its last name, which may not be a link. */
  async function openIn(folder: string, name: string, flags: number, given: string): Promise<FileHandle> {
    await using held = await holdFolder(folder, given)
    return await openFileAt(join(held.path, name), flags, given)
  }

  /** The folder and the name of a file that is to be written. Makes the folders above it. */
  async function placeOf(given: string): Promise<{ folder: string; name: string }> {
    const located = locate(given)
    const missing: string[] = []
    let existing = dirname(located)
    for (let parent = existing; ; parent = dirname(parent)) {
      existing = parent
      if (await isThere(parent)) break
      missing.unshift(basename(parent))
    }
    const realParent = await realInside(existing, given)
    const realFolder = join(realParent, ...missing)
    if (missing.length > 0) await mkdir(realFolder, { recursive: true }).catch((error: unknown) => explain(error, given, true))
    return { folder: await realInside(realFolder, given), name: basename(located) }
  }

  return {
    root,
    async openFile(given) {
      const real = await realInside(locate(given), given)
      if (real === root) throw new ToolError(`${given} is a folder.`)
      return await openIn(dirname(real), basename(real), constants.O_RDONLY, given)
    },
    async createFile(given) {
      const { folder, name } = await placeOf(given)
      // An existing file may be a link to another file of the workspace.
      const target = join(folder, name)
      const real = (await isThere(target)) ? await realInside(target, given) : target
      const file = await openIn(dirname(real), basename(real), constants.O_WRONLY | constants.O_CREAT, given)
      await file.truncate(0)
      return file
    },
    async addFile(given, bytes) {
      const { folder, name } = await placeOf(given)
      await using held = await holdFolder(folder, given)
      // A link to the finished file: unlike a rename, it never replaces a file that came into being meanwhile.
      await putBeside(held.path, bytes, 0o644, given, (temporary) => link(temporary, join(held.path, name)))
    },
    async changeFile(given, bytesMax, change) {
      const real = await realInside(locate(given), given)
      if (real === root) throw new ToolError(`${given} is a folder.`)
      await using held = await holdFolder(dirname(real), given)
      const path = join(held.path, basename(real))
      // Also for writing: a file that is read-only stays as it is.
      await using file = await openFileAt(path, constants.O_RDWR, given)
      const before = await file.stat()
      if (before.size > bytesMax) throw new ToolError(`${given} has ${before.size} bytes. Files of at most ${bytesMax} bytes can be changed.`)
      const bytes = change(await file.readFile())
      await putBeside(held.path, bytes, before.mode & 0o7777, given, async (temporary) => {
        // Without a turn in between, so that of two changes at once in this process the later one notices.
        if (!isUnchanged(before, lstatSync(path))) throw new ToolError(`${given} was changed by another program meanwhile. Read it again.`)
        renameSync(temporary, path)
      })
    },
    folder: (given) => realInside(locate(given), given),
    nameOf: (realPath) => relative(root, realPath) || '.',
    whereTo: (given) => relative(root, resolvedSoFar(resolve(root, given))) || '.',
  }
}

/** Opens only a regular file, no link, pipe or device. */
async function openFileAt(path: string, flags: number, given: string): Promise<FileHandle> {
  const file = await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o644).catch((error: unknown) => explain(error, given, true))
  // A pipe, a device or a socket is no file of notes.
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw new ToolError(`${given} is not a file.`)
}

/** Writes a whole file under a temporary name, moves it into place, and leaves nothing under that name. */
async function putBeside(folder: string, bytes: Buffer, mode: number, given: string, moveInto: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = join(folder, `.muster-${randomUUID()}.tmp`)
  try {
    await using file = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600)
    await file.writeFile(bytes)
    await file.chmod(mode)
    await file.sync()
    await moveInto(temporary)
  } catch (error) {
    if (error instanceof ToolError) throw error
    explain(error, given, true)
  } finally {
    await rm(temporary, { force: true })
  }
}

function isUnchanged(before: Stats, now: Stats): boolean {
  return before.ino === now.ino && before.dev === now.dev && before.size === now.size && before.mtimeMs === now.mtimeMs
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
    EEXIST: 'exists already, or leads through something that is no folder',
    ELOOP: 'is a link that may not be followed',
    ENAMETOOLONG: 'is too long a path',
    ENXIO: 'is not a file',
    ENOSPC: 'cannot be written: the disk is full',
    EDQUOT: 'cannot be written: the quota of the disk is used up',
    EROFS: 'cannot be written: the file system is read-only',
  }
  throw new ToolError(`${given} ${reasons[code ?? ''] ?? `cannot be used (${code ?? 'unknown error'})`}.`)
}
