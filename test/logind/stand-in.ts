/** A message bus of its own (Debian's dbus-daemon) with a program on it that stands for systemd-logind (logind.py). */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export interface LogindStandIn {
  /** As DBUS_SYSTEM_BUS_ADDRESS has it. */
  readonly address: string
  /** The file that it has its delay from when it is told to read it. */
  readonly override: string
  /** What it was asked: the last part of the interface, the member and the arguments; and what it did. */
  calls(): readonly string[]
  /** The machine goes down, or does not after all. */
  says(begins: boolean): void
  /** There is such a file beside it. */
  is(what: 'deaf' | 'refuses'): void
  /** Another on the bus says that the machine goes down, to whoever asked last. */
  strangerSays(): Promise<void>
  stop(): Promise<void>
}

const CONFIGURATION = (
  socket: string,
) => `<busconfig><type>system</type><listen>unix:path=${socket}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`
const PATIENCE_MS = 30_000

/** `delay`: what it waits for locks, in seconds. @throws Error when it does not come up */
export async function startLogind(directory: string, delay = 5): Promise<LogindStandIn> {
  mkdirSync(directory, { recursive: true })
  const [socket, override] = [join(directory, 'bus'), join(directory, 'conf.d/99-kubelet.conf')]
  writeFileSync(join(directory, 'bus.conf'), CONFIGURATION(socket))
  writeFileSync(join(directory, 'delay'), String(delay))
  const program = fileURLToPath(new URL('logind.py', import.meta.url))
  const running: ChildProcess[] = []
  const run = (command: string, ...args: readonly string[]) => {
    const child = spawn(command, args, { stdio: 'ignore' })
    running.push(child)
    return child
  }
  const calls = () => {
    const file = join(directory, 'calls')
    if (!existsSync(file)) return []
    // The last line may not be whole yet.
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
    return lines.map((line) => {
      const said = JSON.parse(line) as readonly unknown[]
      const [, , from] = said
      return said.length < 4 ? said.join(' ') : [String(from).split('.').at(-1), ...said.slice(3)].join(' ')
    })
  }
  const until = async (what: string, look: () => boolean) => {
    for (const from = performance.now(); !look(); await wait(20))
      if (performance.now() - from > PATIENCE_MS) throw new Error(`waited in vain: ${what}`)
  }
  const stop = async () => {
    for (const child of running) {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await ended
      }
    }
    rmSync(directory, { recursive: true, force: true })
  }
  const begin = async () => {
    run('dbus-daemon', '--config-file', join(directory, 'bus.conf'), '--nofork')
    await until('the message bus', () => existsSync(socket))
    const child = run('python3', program, socket, directory, override)
    await until('logind', () => calls().includes('ready'))
    return child
  }
  const logind = await begin().catch(async (error) => {
    await stop()
    throw error
  })
  return {
    address: `unix:path=${socket}`,
    override,
    calls,
    says: (begins) => void logind.kill(begins ? 'SIGUSR1' : 'SIGUSR2'),
    is: (what) => writeFileSync(join(directory, what), ''),
    async strangerSays() {
      const before = calls().filter((call) => call === 'ready').length
      const stranger = run('python3', program, socket, directory, override, 'stranger')
      await until('the stranger', () => calls().filter((call) => call === 'ready').length > before)
      const said = calls().length
      stranger.kill('SIGUSR1')
      await until('its signal', () => calls().length > said)
    },
    stop,
  }
}
