/** What commands print and return in a container, as the annotation `exec` lists it (docs/simulation.md). */
import type { JsonObject } from '../../../api/object.ts'
import { messageOf } from '../../../base/errors.ts'
import { createLruMap } from '../../../base/lru.ts'
import { annotatedMs } from './simulation-annotations.ts'

export interface ExecAnswer {
  /** Words, each as it is, or one pattern for all of them together, in which `*` stands for anything. */
  readonly command: readonly string[] | string
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
  readonly delayMs: number
}

/** Characters. Reading YAML takes a time that grows with their square; JSON has no such bound. */
const LONGEST_YAML = 8 * 1024

const FIELDS = ['command', 'stdout', 'stderr', 'exitCode', 'delay']

/** What was read last, by its text: each exec and each exec probe asks for it. */
const kept = createLruMap<string, Promise<readonly ExecAnswer[]>>(32)

/** JSON, or YAML. @throws Error that says what is wrong, in one line */
export function readExecAnswers(text: string): Promise<readonly ExecAnswer[]> {
  const answers = kept.get(text) ?? read(text)
  kept.set(text, answers)
  return answers
}

async function read(text: string): Promise<readonly ExecAnswer[]> {
  const list = jsonOf(text) ?? (await yamlOf(text))
  if (!Array.isArray(list)) throw new Error('it must be a list of answers, each with a command')
  return list.map((entry: unknown, at) => {
    try {
      return answerOf(entry)
    } catch (error) {
      throw new Error(`answer ${at + 1}: ${messageOf(error)}`, { cause: error })
    }
  })
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function yamlOf(text: string): Promise<unknown> {
  if (text.length > LONGEST_YAML)
    throw new Error(`it is no JSON, and too long to be read as YAML (${LONGEST_YAML} characters): write it as JSON`)
  const { parse } = await import('yaml')
  try {
    return parse(text, { maxAliasCount: 0, uniqueKeys: false })
  } catch (error) {
    throw new Error(messageOf(error).split('\n')[0]?.replace(/:$/, ''), { cause: error })
  }
}

function answerOf(entry: unknown): ExecAnswer {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) throw new Error('it must have fields')
  const fields = entry as JsonObject
  const unknown = Object.keys(fields).find((name) => !FIELDS.includes(name))
  if (unknown !== undefined) throw new Error(`there is no field ${JSON.stringify(unknown)}, only ${FIELDS.join(', ')}`)
  const { command, stdout = '', stderr = '', exitCode = 0, delay } = fields
  const isWords = Array.isArray(command) && command.length > 0 && command.every((word) => typeof word === 'string')
  if (!isWords && (typeof command !== 'string' || command === ''))
    throw new Error('command must be a text or a list of words')
  if (typeof stdout !== 'string' || typeof stderr !== 'string') throw new Error('stdout and stderr must be texts')
  if (!Number.isInteger(exitCode) || (exitCode as number) < 0 || (exitCode as number) > 255)
    throw new Error('exitCode must be a number from 0 to 255')
  const delayMs = delay === undefined ? 0 : annotatedMs(String(delay))
  if (delayMs === undefined) throw new Error(`delay must be a time as 500ms or 3s, not ${JSON.stringify(delay)}`)
  return { command: command as string | string[], stdout, stderr, exitCode: exitCode as number, delayMs }
}

/** The first that is about this command. */
export function answerTo(answers: readonly ExecAnswer[], command: readonly string[]): ExecAnswer | undefined {
  const whole = command.join(' ')
  return answers.find(({ command: wanted }) =>
    typeof wanted === 'string'
      ? matches(wanted, whole)
      : wanted.length === command.length && wanted.every((word, at) => word === command[at]),
  )
}

/** In time that grows with the texts' lengths alone: each part between stars is taken where it first fits. */
function matches(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return pattern === text
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false
  let at = first.length
  const end = text.length - last.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
