/** Other processes of this machine, as Linux tells of them in /proc. */
import { readFileSync, statSync } from 'node:fs'

export interface OtherProcess {
  readonly parent: number
  readonly user: number
  /** When it began, in ticks since the machine did: tells it from a later one with its number. */
  readonly began: number
}

/** Undefined for a process that has ended, though its parent has not taken note yet, and where there is no /proc. */
export function processOf(pid: number): OtherProcess | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name, in brackets, may hold anything.
    const [state = '', parent, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const { uid } = statSync(`/proc/${pid}`)
    return 'ZX'.includes(state) ? undefined : { parent: Number(parent), user: uid, began: Number(rest[17]) }
  } catch {
    return undefined
  }
}
