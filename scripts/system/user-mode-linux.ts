import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Linux as a program, of Debian's package user-mode-linux: a kernel with what that of this machine may lack. */
export interface UserModeLinux {
  program: string
  /** The folder of its modules for programs such as modprobe, and the part of it for its version. */
  modulesFolder: string
  modules: string
}

const PROGRAM = '/usr/bin/linux.uml'
const MODULES = '/usr/lib/uml/modules'

/** Null where it is not installed. */
export function findUserModeLinux(): UserModeLinux | null {
  const version = existsSync(PROGRAM) && existsSync(MODULES) ? readdirSync(MODULES)[0] : undefined
  return version === undefined ? null : { program: PROGRAM, modulesFolder: MODULES, modules: join(MODULES, version, 'kernel') }
}

/**
 * How it is started with the files of this machine, which it does not change, and with its standard input and output as the console.
 *
 * @param init the script that it runs first, as root of its own
 */
export function userModeArguments(init: string, memoryMib: number): string[] {
  return [`mem=${memoryMib}M`, 'quiet', 'rootfstype=hostfs', 'rootflags=/', 'ro', `init=${init}`, 'con=null', 'con0=fd:0,fd:1']
}
