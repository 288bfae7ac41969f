/**
 * What a container's command plainly does. A simulated container executes nothing, but `sleep 5`, `false` or
 * `sh -c "sleep 1; exit 3"` say how they end, so it ends like that. What is not among the few words known here is not
 * understood at all: nothing is guessed.
 */
export interface PlainCommand {
  /** Milliseconds after its start; undefined: it runs on. */
  readonly endsAfterMs: number | undefined
  readonly exitCode: number
  /** What it does with SIGTERM, where it says so: `ignored`, or the code it ends with. */
  readonly onSigterm: 'ignored' | number | undefined
  /** What it writes to /dev/termination-log. */
  readonly terminationMessage: string
}

/** Timers reach no further. A container that sleeps longer runs on. */
const LONGEST_MS = 2 ** 31 - 1
const LONGEST_SCRIPT = 1000
const TERMINATION_LOG = '/dev/termination-log'
const SHELL = /^(\/bin\/|\/usr\/bin\/)?(ba|a|da)?sh$/
const FOREVER = /\bwhile\s+(?:true|:)\s*;\s*do\s+sleep\s+[\d.]+[smh]?\s*;?\s*done\s*$/
const UNIT_MS: Readonly<Record<string, number>> = { '': 1000, s: 1000, m: 60_000, h: 3_600_000 }

/** undefined: it is not understood. Without `command` the image runs `args`, as most images do. */
export function plainCommand(command: readonly string[], args: readonly string[]): PlainCommand | undefined {
  const words = [...command, ...args]
  const [first = '', flag = '', script, ...rest] = words
  if (words.some((word) => word.length > LONGEST_SCRIPT)) return undefined
  if (!SHELL.test(first)) return first === '' ? undefined : run([{ words, ifSucceeded: false }])
  if (!/^-[eux]*c$/.test(flag) || script === undefined || rest.length > 0) return undefined
  const forever = FOREVER.exec(script)
  const statements = statementsOf(forever === null ? script : script.slice(0, forever.index))
  if (statements === undefined) return undefined
  if (forever !== null) statements.push({ words: ['sleep', 'infinity'], ifSucceeded: false })
  return run(statements)
}

interface Statement {
  readonly words: readonly string[]
  /** It follows `&&`. */
  readonly ifSucceeded: boolean
}

/** A script's statements; undefined when it has more than words, quotes, `;`, `&&` and `>`. */
function statementsOf(script: string): Statement[] | undefined {
  const statements: Statement[] = []
  let words: string[] = []
  let ifSucceeded = false
  for (const [token] of script.matchAll(/'[^']*'|"[^"$`\\]*"|&&|[;\n]|>|[\w./:=,+-]+|[^\S\n]+|./gs)) {
    if (token === ';' || token === '\n' || token === '&&') {
      if (words.length > 0) statements.push({ words, ifSucceeded })
      words = []
      ifSucceeded = token === '&&'
    } else if (/^['"]./.test(token)) words.push(token.slice(1, -1))
    else if (/^[\w./:=,+>-]/.test(token)) words.push(token)
    else if (token.trim() !== '') return undefined
  }
  if (words.length > 0) statements.push({ words, ifSucceeded })
  return statements
}

function run(statements: readonly Statement[]): PlainCommand | undefined {
  let ms = 0
  let status = 0
  let onSigterm: PlainCommand['onSigterm']
  let terminationMessage = ''
  const ended = (endsAfterMs: number | undefined, exitCode: number): PlainCommand => ({
    endsAfterMs: endsAfterMs !== undefined && endsAfterMs <= LONGEST_MS ? endsAfterMs : undefined,
    exitCode,
    onSigterm,
    terminationMessage,
  })
  for (const { words, ifSucceeded } of statements) {
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
        return ended(ms, operand === '' ? status : Number(operand) & 0xff)
      case 'sleep': {
        const length = sleepMs(operand)
        if (length === undefined || operands.length !== 1) return undefined
        ms += length
        if (ms > LONGEST_MS) return ended(undefined, 0)
        status = 0
        break
      }
      case 'echo': {
        const to = operands.indexOf('>')
        if (to >= 0 && operands[to + 1] === TERMINATION_LOG) terminationMessage = `${operands.slice(0, to).join(' ')}\n`
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
