/**
 * What a container's command plainly does. A simulated container executes nothing, but `sleep 5`, `false` or
 * `sh -c "sleep 1; exit 3"` say how they end, so it ends like that. What is not among the few words known here is not
 * understood at all: nothing is guessed.
 */
import { echoed, printfed } from './printing.ts'
import { type Statement, statementsOf } from './shell-script.ts'

export interface PlainCommand {
  /** Milliseconds after its start; undefined: it runs on. */
  readonly endsAfterMs: number | undefined
  readonly exitCode: number
  /** What it does with SIGTERM, where it says so: `ignored`, or the code it ends with. */
  readonly onSigterm: 'ignored' | number | undefined
  /** What it writes to /dev/termination-log. */
  readonly terminationMessage: string
  /** What it prints, in its order. */
  readonly output: readonly Output[]
  /** What it does over and over behind that, as `while true; do echo x; sleep 1; done` does. */
  readonly loop?: { readonly beginsAfterMs: number; readonly everyMs: number; readonly output: readonly Output[] }
}

export interface Output {
  /** Milliseconds after its start; in a loop, after that of the round. */
  readonly afterMs: number
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

/** Timers reach no further. A container that sleeps longer runs on. */
const LONGEST_MS = 2 ** 31 - 1
export const LONGEST_SCRIPT = 1000
/** Characters of all words together. */
const LONGEST_COMMAND = 10_000
const TERMINATION_LOG = '/dev/termination-log'
export const SHELL = /^(\/bin\/|\/usr\/bin\/)?(ba|a|da)?sh$/
/** No part of it can take what the next one takes: scripts are others', and it must not try every way to divide them. */
const LOOP_BEGINS = /\bwhile\s+(?:true|:)[^\S\n]*[;\n]\s*do\s/
const UNIT_MS: Readonly<Record<string, number>> = { '': 1000, s: 1000, m: 60_000, h: 3_600_000 }

/** What a script came to. */
interface Run {
  readonly plain: PlainCommand
  /** By `exit`: what stands behind it is not reached. */
  readonly exits: boolean
}

/** undefined: it is not understood. Without `command` the image runs `args`, as most images do. */
export function plainCommand(command: readonly string[], args: readonly string[]): PlainCommand | undefined {
  const words = [...command, ...args]
  const [first = '', flag = '', script, ...rest] = words
  if (words.some((word) => word.length > LONGEST_SCRIPT)) return undefined
  if (words.reduce((length, word) => length + word.length + 1, 0) > LONGEST_COMMAND) return undefined
  if (!SHELL.test(first)) return first === '' ? undefined : run([{ words, ifSucceeded: false }])?.plain
  if (!/^-[eux]*c$/.test(flag) || script === undefined || rest.length > 0) return undefined
  const forever = foreverOf(script)
  if (forever === undefined) return runScript(script)?.plain
  const before = runScript(forever.before)
  const round = runScript(forever.round)
  return before === undefined || round === undefined ? undefined : looped(before, round)
}

/** What stands before and in the endless loop with which a script ends. Done by steps from its end, each over the text once. */
function foreverOf(script: string): { readonly before: string; readonly round: string } | undefined {
  const text = script.trimEnd()
  const loop = (text.endsWith(';') ? text.slice(0, -1) : text).trimEnd()
  if (!loop.endsWith('done')) return undefined
  const body = loop.slice(0, -'done'.length)
  const whole = body.trimEnd()
  if (!whole.endsWith(';') && !body.slice(whole.length).includes('\n')) return undefined
  const begins = LOOP_BEGINS.exec(body)
  if (begins === null) return undefined
  return { before: body.slice(0, begins.index), round: body.slice(begins.index + begins[0].length) }
}

function runScript(script: string): Run | undefined {
  const statements = statementsOf(script)
  return statements === undefined ? undefined : run(statements)
}

/** undefined for a round that ends the loop, or takes no time: that one would keep a machine busy. */
function looped({ plain, exits }: Run, { plain: round, exits: ends }: Run): PlainCommand | undefined {
  const { endsAfterMs: beginsAfterMs, output } = plain
  const { endsAfterMs: everyMs } = round
  if (beginsAfterMs === undefined || exits) return plain
  if (ends || everyMs === 0 || round.terminationMessage !== '' || round.onSigterm !== undefined) return undefined
  const forever = { ...plain, endsAfterMs: undefined, exitCode: 0 }
  if (everyMs === undefined) return { ...forever, output: [...output, ...later(round.output, beginsAfterMs)] }
  return round.output.length === 0 ? forever : { ...forever, loop: { beginsAfterMs, everyMs, output: round.output } }
}

const later = (output: readonly Output[], ms: number): readonly Output[] =>
  output.map((one) => ({ ...one, afterMs: one.afterMs + ms }))

function run(statements: readonly Statement[]): Run | undefined {
  let ms = 0
  let status = 0
  let onSigterm: PlainCommand['onSigterm']
  let terminationMessage = ''
  const output: Output[] = []
  const ended = (endsAfterMs: number | undefined, exitCode: number, exits = false): Run => ({
    plain: { endsAfterMs, exitCode, onSigterm, terminationMessage, output },
    exits,
  })
  const print = (text: string, to: Statement['to']) => {
    if (to === undefined || typeof to === 'string') output.push({ afterMs: ms, stream: to ?? 'stdout', text })
    else if (to.file === TERMINATION_LOG) terminationMessage = (to.appends ? terminationMessage : '') + text
  }
  for (const { words, ifSucceeded, to } of statements) {
    if (ifSucceeded && status !== 0) continue
    const [name = '', ...operands] = words[0] === 'exec' ? words.slice(1) : words
    const [operand = ''] = operands
    switch (name.replace(/^(\/usr)?\/bin\//, '')) {
      case 'true':
      case ':':
      case 'touch':
        status = 0
        break
      case 'false':
        status = 1
        break
      case 'exit':
        if (!/^\d{0,3}$/.test(operand)) return undefined
        return ended(ms, operand === '' ? status : Number(operand) & 0xff, true)
      case 'sleep': {
        const length = sleepMs(operand)
        if (length === undefined || operands.length !== 1) return undefined
        ms += length
        if (ms > LONGEST_MS) return ended(undefined, 0)
        status = 0
        break
      }
      case 'echo':
        print(echoed(operands), to)
        status = 0
        break
      case 'printf': {
        const text = printfed(operands)
        if (text === undefined) return undefined
        print(text, to)
        status = 0
        break
      }
      case 'trap': {
        const [action = '', signal = ''] = operands
        if (!/^(SIG)?TERM$/.test(signal)) return undefined
        const code = /^exit (\d{1,3})$/.exec(action)?.[1]
        if (action !== '' && code === undefined) return undefined
        onSigterm = code === undefined ? 'ignored' : Number(code) & 0xff
        break
      }
      default:
        return undefined
    }
  }
  return ended(ms, status)
}

function sleepMs(text: string): number | undefined {
  if (/^inf(inity)?$/.test(text)) return Number.POSITIVE_INFINITY
  const [, number, unit] = /^(\d{1,12}(?:\.\d{1,6})?)([smh]?)$/.exec(text) ?? []
  return number === undefined || unit === undefined ? undefined : Number(number) * (UNIT_MS[unit] as number)
}
