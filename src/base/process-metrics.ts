/** What a process tells of itself at /metrics: time, memory, files, traffic, and how late its event loop is. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createMetrics, type Metrics } from './metrics.ts'

const LOOP_RESOLUTION_MS = 20
let loopDelay: ReturnType<typeof monitorEventLoopDelay> | undefined

/** The process has one event loop, however many clusters run in it. */
function eventLoopDelay(): ReturnType<typeof monitorEventLoopDelay> {
  if (loopDelay === undefined) {
    loopDelay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS })
    loopDelay.enable()
  }
  return loopDelay
}

function eventLoopDelays(): [number, string][] {
  const delay = eventLoopDelay()
  // The histogram holds how long its timer took to come, which is its period when nothing is in the way.
  const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - LOOP_RESOLUTION_MS / 1000)
  return [
    [late(delay.percentile(50)), '0.5'],
    [late(delay.percentile(99)), '0.99'],
    [late(delay.percentile(99.9)), '0.999'],
    [late(delay.max), '1'],
  ]
}

const OWN = '/proc/self'

/** What the kernel tells of the process, read when it is asked for. */
function linuxMetrics(metrics: Metrics): void {
  const tell = (name: string, help: string, read: () => number | undefined, type?: 'counter') =>
    metrics.sampled(
      name,
      help,
      [],
      () => {
        const value = read()
        return value === undefined ? [] : [[value]]
      },
      type,
    )
  const traffic = (place: number) => () => {
    const lines = (textOf(`${OWN}/net/netstat`) ?? '').split('\n').filter((line) => line.startsWith('IpExt:'))
    const [names = [], values = []] = lines.map((line) => line.split(' '))
    return numberOf(values[names.indexOf(['InOctets', 'OutOctets'][place] ?? '')])
  }
  tell('process_open_fds', 'Files, sockets and pipes that are open.', () => entriesIn(`${OWN}/fd`))
  tell('process_max_fds', 'How many of them may be open.', () => limitOf('Max open files'))
  tell('process_virtual_memory_bytes', 'Address space in use.', () =>
    numberOf(
      textOf(`${OWN}/stat`)
        ?.replace(/^.*\) /s, '')
        .split(' ')[VSIZE],
    ),
  )
  tell('process_virtual_memory_max_bytes', 'How much address space may be in use.', () => limitOf('Max address space'))
  const [received, sent] = [traffic(0), traffic(1)]
  tell('process_network_receive_bytes_total', 'Bytes received in the network of the process.', received, 'counter')
  tell('process_network_transmit_bytes_total', 'Bytes sent in the network of the process.', sent, 'counter')
}

/** In /proc/PID/stat, counted behind the name. */
const VSIZE = 20
const UNLIMITED = 2 ** 64

function limitOf(name: string): number | undefined {
  const line = textOf(`${OWN}/limits`)
    ?.split('\n')
    .find((one) => one.startsWith(name))
  const soft = line?.slice(name.length).trim().split(/\s+/)[0]
  return soft === 'unlimited' ? UNLIMITED : numberOf(soft)
}

const numberOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text))

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function entriesIn(directory: string): number | undefined {
  try {
    return readdirSync(directory).length
  } catch {
    return undefined
  }
}

/** A registry that tells of the process itself. */
export function processMetrics(): Metrics {
  const metrics = createMetrics()
  eventLoopDelay()
  const started = performance.timeOrigin / 1000
  metrics.sampled('process_start_time_seconds', 'Start of the process, seconds since the epoch.', [], () => [[started]])
  metrics.sampled('process_resident_memory_bytes', 'Resident memory.', [], () => [[process.memoryUsage.rss()]])
  const cpu = () => {
    const { user, system } = process.cpuUsage()
    return [[(user + system) / 1e6]] as const
  }
  metrics.sampled('process_cpu_seconds_total', 'User and system CPU time.', [], cpu, 'counter')
  if (existsSync(OWN)) linuxMetrics(metrics)
  metrics.sampled(
    'skiff_event_loop_delay_seconds',
    'How much later than it was due something is done, since the process started: quantile 1 is the longest ever.',
    ['quantile'],
    eventLoopDelays,
  )
  return metrics
}
