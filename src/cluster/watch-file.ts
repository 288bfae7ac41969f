/**
 * A file that may be changed while the cluster runs: looked at every second, told of when what is in it is something else. A pipe is
 * never read again: that would wait for another writer.
 */
import { readFileSync, statSync } from 'node:fs'
import type { Runtime } from '../base/runtime.ts'

const EVERY_MS = 1000

/** Calls `onChange` with the new text. A file that is away for a while has not changed. @returns what ends the watching */
export function watchFile(runtime: Runtime, file: string, text: string, onChange: (text: string) => void): () => void {
  let known = text
  let stamp = stampOf(file)
  const look = () => {
    timer = runtime.machineClock.setTimer(EVERY_MS, 'watch file', look)
    const now = stampOf(file)
    if (now === undefined || now === stamp) return
    let found: string
    try {
      found = readFileSync(file, 'utf8')
    } catch {
      return
    }
    stamp = now
    if (found === known) return
    known = found
    onChange(found)
  }
  let timer = runtime.machineClock.setTimer(EVERY_MS, 'watch file', look)
  return () => timer.cancel()
}

function stampOf(file: string): string | undefined {
  try {
    const stats = statSync(file)
    const { ino, size, mtimeMs } = stats
    return stats.isFile() ? `${ino} ${size} ${mtimeMs}` : undefined
  } catch {
    return undefined
  }
}
