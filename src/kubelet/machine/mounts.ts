/** Mounts of this machine, by the system's own mount and umount, which are given paths as arguments and never as text of a script. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A file system in memory, which is never swapped out where the kernel can do that. `size` in bytes, `mode` as for chmod. @throws Error with what mount says */
export async function mountMemory(target: string, mode: '0750' | '0777', size?: bigint): Promise<void> {
  const options = size === undefined ? `mode=${mode}` : `mode=${mode},size=${size}`
  const mount = (more: string) => said(run('mount', ['-t', 'tmpfs', '-o', `${options}${more}`, 'tmpfs', target]))
  await mount(',noswap').catch(() => mount(''))
}

/** `source` may lead over an open file (/proc/PID/fd/N): it is taken as it is, and followed by the kernel alone. */
export async function bindMount(source: string, target: string): Promise<void> {
  await said(run('mount', ['--no-canonicalize', '--bind', source, target]))
}

/** Unmounts everything at or below the directory, the innermost first. @throws Error when something is busy */
export async function unmountBelow(directory: string): Promise<void> {
  for (const target of mountedBelow(directory)) await said(run('umount', ['--no-canonicalize', target]))
}

export async function unmountLazily(target: string): Promise<void> {
  await said(run('umount', ['--no-canonicalize', '--lazy', target]))
}

/** Innermost first. */
export function mountedBelow(directory: string): readonly string[] {
  const targets = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => unescaped(line.split(' ')[4] ?? ''))
  return targets.filter((target) => target === directory || target.startsWith(`${directory}/`)).reverse()
}

/** The kernel writes blanks and backslashes as octal numbers. */
const unescaped = (path: string) =>
  path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))

async function said(running: Promise<unknown>): Promise<void> {
  try {
    await running
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string }
    throw new Error(stderr.trim() || String(error), { cause: error })
  }
}
