/** Short commands of the system. */
import { execFileSync } from 'node:child_process'
import { messageOf } from '../../base/errors.ts'

/** A short command of the system, run once when a node starts or ends. @throws Error with what it says */
export function system(command: string, args: readonly string[], input?: string): string {
  try {
    return execFileSync(command, args, {
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` },
      ...(input === undefined ? {} : { input }),
    })
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string }
    throw new Error(`${command} ${args.join(' ')}: ${stderr.trim() || messageOf(error)}`, { cause: error })
  }
}
