/** The lines that come on standard input. A terminal's are edited on the way: its client sends each key, and shows what it is sent. */
import { StringDecoder } from 'node:string_decoder'
import type { CommandStreams } from '../runtime.ts'

const LONGEST_LINE = 64 * 1024
const KEY = { interrupt: '\x03', end: '\x04', backspace: '\b', delete: '\x7f', killLine: '\x15' } as const

/** undefined: the line was given up (Ctrl-C). Ends with the input, or with Ctrl-D on an empty line. */
export function terminalLines(
  { tty, print }: Pick<CommandStreams, 'tty' | 'print'>,
  stdin: AsyncIterable<Uint8Array>,
): AsyncGenerator<string | undefined> {
  return tty ? editedLines(print, stdin) : plainLines(stdin)
}

/** Of a longer line the beginning. */
async function* plainLines(stdin: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8')
  let line = ''
  for await (const bytes of stdin) {
    const text = decoder.write(Buffer.from(bytes))
    let begin = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', begin)) {
      yield line + text.slice(begin, Math.min(end, begin + LONGEST_LINE - line.length))
      line = ''
      begin = end + 1
    }
    if (line.length < LONGEST_LINE) line += text.slice(begin, begin + LONGEST_LINE - line.length)
  }
  if (line !== '') yield line
}

async function* editedLines(
  print: CommandStreams['print'],
  stdin: AsyncIterable<Uint8Array>,
): AsyncGenerator<string | undefined> {
  const decoder = new StringDecoder('utf8')
  let keys: string[] = []
  for await (const bytes of stdin) {
    for (const key of decoder.write(Buffer.from(bytes))) {
      if (key === '\n' || key === '\r') {
        await print('stdout', '\n')
        yield keys.join('')
        keys = []
      } else if (key === KEY.interrupt) {
        await print('stdout', '^C\n')
        keys = []
        yield undefined
      } else if (key === KEY.end) {
        if (keys.length === 0) return
      } else if (key === KEY.backspace || key === KEY.delete) {
        if (keys.pop() !== undefined) await print('stdout', '\b \b')
      } else if (key === KEY.killLine) {
        await print('stdout', '\b \b'.repeat(keys.length))
        keys = []
      } else if (key >= ' ' && keys.length < LONGEST_LINE) {
        keys.push(key)
        await print('stdout', key)
      }
    }
  }
  if (keys.length > 0) yield keys.join('')
}
