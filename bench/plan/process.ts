/** A Node.js process, and what it took. Linux only: elsewhere what /proc tells is left out. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { usageOf } from '../subject.ts'

export interface Measured {
  readonly seconds: number
  /** All threads. */
  readonly cpuSeconds: number
  /** The most that was resident at once. */
  readonly peakMiB: number
  readonly out: string
}

const LOOK_MS = 10

/** `nodeArgs`: for profiling it. @throws Error when it ends by a signal, or says nothing */
export async function measured(args: readonly string[], nodeArgs: readonly string[] = []): Promise<Measured> {
  const begin = performance.now()
  // The command runs itself again with its settings, and would lose the arguments.
  const env = nodeArgs.length > 0 ? { ...process.env, SKIFF_REEXECUTED: '1' } : process.env
  const child = spawn(process.execPath, [...nodeArgs, ...args], { stdio: ['ignore', 'pipe', 'inherit'], env })
  const pid = child.pid as number
  let [cpuSeconds, peakMiB] = [Number.NaN, Number.NaN]
  const look = setInterval(() => {
    const now = { cpu: usageOf(pid).cpuSeconds, peak: peakOf(pid) }
    if (!Number.isNaN(now.cpu)) cpuSeconds = now.cpu
    if (!Number.isNaN(now.peak)) peakMiB = now.peak
  }, LOOK_MS)
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  try {
    await new Promise<void>((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (_, signal) => (signal === null ? resolve() : reject(new Error(`it ended by ${signal}`))))
    })
  } finally {
    clearInterval(look)
  }
  const out = Buffer.concat(chunks).toString()
  if (out === '') throw new Error(`${args.join(' ')} said nothing`)
  return { seconds: (performance.now() - begin) / 1000, cpuSeconds, peakMiB, out }
}

function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024
  } catch {
    return Number.NaN
  }
}
