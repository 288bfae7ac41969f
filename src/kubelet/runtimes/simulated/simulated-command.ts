/**
 * What becomes of a command that is to run in a simulated container: first what the annotation `exec` answers, then what the command plainly
 * says itself, then what little a simulated container knows: its environment, its name, its standard input.
 */
import type { Clock } from '../../../base/clock.ts'
import { sleep } from '../../../base/clock.ts'
import { type CommandStreams, RuntimeError } from '../runtime.ts'
import { LONGEST_SCRIPT, type Output, type PlainCommand, plainCommand, SHELL } from './container-command.ts'
import { answerTo, type ExecAnswer } from './exec-answers.ts'
import { terminalLines } from './terminal.ts'

/** Where the command runs. */
export interface CommandPlace {
  readonly clock: Clock
  readonly answers: readonly ExecAnswer[]
  readonly envs: Readonly<Record<string, string>>
  readonly hostname: string
  readonly workingDir: string
}

/** What a command is known to do, whatever it is given. */
export function foreseen(answers: readonly ExecAnswer[], command: readonly string[]): PlainCommand | undefined {
  const answer = answerTo(answers, command) ?? answerTo(answers, [scriptOf(command) ?? ''])
  if (answer === undefined) return plainCommand(command, [])
  const { delayMs: afterMs, exitCode } = answer
  const output: Output[] = []
  for (const stream of ['stdout', 'stderr'] as const)
    if (answer[stream] !== '') output.push({ afterMs, stream, text: answer[stream] })
  return { endsAfterMs: afterMs, exitCode, onSigterm: undefined, terminationMessage: '', output }
}

/** Resolves to its exit code. @throws RuntimeError for what cannot be run, the signal's reason */
export async function runCommand(
  place: CommandPlace,
  command: readonly string[],
  streams: CommandStreams,
  signal: AbortSignal,
): Promise<number> {
  const known = foreseen(place.answers, command)
  if (known !== undefined) return interruptible(streams, signal, (until) => perform(place.clock, known, streams, until))
  const [name = '', ...operands] = command
  if (SHELL.test(name) && operands.every((word) => /^-[il]+$/.test(word))) return shell(place, streams, signal)
  return (
    (await ownCommand(place, command, streams)) ??
    Promise.reject(
      new RuntimeError(
        `exec: ${JSON.stringify(name)}: executable file not found in $PATH: the container is simulated, and its annotation sim.skiff.dev/exec has no answer for this command`,
      ),
    )
  )
}

/** The script of `sh -c SCRIPT`. */
const scriptOf = ([name = '', flag, script, ...rest]: readonly string[]): string | undefined =>
  SHELL.test(name) && /^-[eux]*c$/.test(flag ?? '') && rest.length === 0 ? script : undefined

/** In its own time. One that does not end goes on until the signal. */
async function perform(
  clock: Clock,
  { output, loop, endsAfterMs, exitCode }: PlainCommand,
  { print }: CommandStreams,
  signal: AbortSignal,
): Promise<number> {
  let ageMs = 0
  const until = async (ms: number) => {
    if (ms > ageMs) await sleep(clock, ms - ageMs, signal)
    ageMs = Math.max(ageMs, ms)
  }
  const say = async (all: readonly Output[], begins: number) => {
    for (const { afterMs, stream, text } of all) {
      await until(begins + afterMs)
      await print(stream, text)
    }
  }
  await say(output, 0)
  if (endsAfterMs !== undefined) {
    await until(endsAfterMs)
    return exitCode
  }
  if (loop !== undefined)
    for (let begins = loop.beginsAfterMs; ; begins += loop.everyMs) {
      await say(loop.output, begins)
      await until(begins + loop.everyMs)
    }
  signal.throwIfAborted()
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/** Of a command that is sent nothing. */
async function* nothing(): AsyncGenerator<Uint8Array> {}

/** undefined: it is none of those that the container itself can answer. */
async function ownCommand(
  { envs, hostname, workingDir }: CommandPlace,
  [name = '', ...operands]: readonly string[],
  { stdin = nothing(), tty, print }: CommandStreams,
): Promise<number | undefined> {
  const [variable] = operands
  switch (operands.length > 1 ? '' : name.replace(/^(\/usr)?\/bin\//, '')) {
    case 'cat':
      if (variable !== undefined && variable !== '-') return undefined
      if (tty) for await (const line of terminalLines({ tty, print }, stdin)) await print('stdout', `${line ?? ''}\n`)
      else for await (const bytes of stdin) await print('stdout', bytes)
      return 0
    case 'env':
    case 'printenv': {
      if (variable !== undefined) {
        if (!name.endsWith('printenv') || !/^\w+$/.test(variable)) return undefined
        if (!Object.hasOwn(envs, variable)) return 1
        await print('stdout', `${envs[variable]}\n`)
        return 0
      }
      const lines = Object.entries({ HOSTNAME: hostname, ...envs }).map(([key, value]) => `${key}=${value}\n`)
      await print('stdout', lines.join(''))
      return 0
    }
    case 'hostname':
    case 'pwd':
      if (variable !== undefined) return undefined
      await print('stdout', `${name.endsWith('pwd') ? workingDir || '/' : hostname}\n`)
      return 0
    default:
      return undefined
  }
}

const PROMPT = '$ '
const EXIT = /^exit(?:\s+(\d{1,3}))?\s*;?$/
const NOT_FOUND = 127
const INTERRUPTED = 130
const CTRL_C = 3

const INTERRUPT = new Error('interrupted')

/** Ctrl-C at its terminal ends it. */
async function interruptible(
  { tty, stdin }: CommandStreams,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<number>,
): Promise<number> {
  if (!tty || stdin === undefined) return run(signal)
  const interrupt = new AbortController()
  const listen = async () => {
    for await (const bytes of stdin) if (bytes.includes(CTRL_C)) interrupt.abort(INTERRUPT)
  }
  listen().catch(() => {})
  return untilInterrupted(run(AbortSignal.any([signal, interrupt.signal])))
}

const untilInterrupted = (running: Promise<number>): Promise<number> =>
  running.catch((error: unknown) => {
    if (error === INTERRUPT) return INTERRUPTED
    throw error
  })

/** A shell that reads its script from standard input, a line at a time. */
async function shell(place: CommandPlace, streams: CommandStreams, signal: AbortSignal): Promise<number> {
  const { stdin = nothing(), tty, print } = streams
  const lines = terminalLines(streams, stdin)
  // What a command in it would read is the shell's.
  const own: CommandStreams = { tty, print }
  let status = 0
  /** Asked for already, while a command ran. */
  let next: ReturnType<typeof lines.next> | undefined
  for (;;) {
    if (tty) await print('stdout', PROMPT)
    const read = await (next ?? lines.next())
    next = undefined
    if (read.done === true) return status
    const line = read.value?.trim()
    if (line === undefined) status = INTERRUPTED
    else if (line !== '') {
      const exit = line.length > LONGEST_SCRIPT ? null : EXIT.exec(line)
      if (exit !== null) return exit[1] === undefined ? status : Number(exit[1]) & 0xff
      const interrupt = new AbortController()
      // What is typed while a command runs waits for it, but for Ctrl-C.
      next = lines.next()
      next.then(
        (typed) => typed.done !== true && typed.value === undefined && interrupt.abort(INTERRUPT),
        () => {},
      )
      status = await untilInterrupted(ranLine(place, line, own, AbortSignal.any([signal, interrupt.signal])))
      if (interrupt.signal.aborted) next = undefined
    }
  }
}

async function ranLine(
  place: CommandPlace,
  line: string,
  streams: CommandStreams,
  signal: AbortSignal,
): Promise<number> {
  const known = foreseen(place.answers, ['sh', '-c', line])
  if (known !== undefined) return perform(place.clock, known, streams, signal)
  const words = line.split(/\s+/)
  const status = await ownCommand(place, words, streams)
  if (status !== undefined) return status
  await streams.print('stderr', `sh: ${words[0]}: not found\n`)
  return NOT_FOUND
}
