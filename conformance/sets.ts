/** The recorded sets, and the few cases that are left out of replays because their answers depend on timing. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type RecordedCase, readRecording } from './recording.ts'

const folder = fileURLToPath(new URL('recordings/', import.meta.url))

export function sets(): readonly string[] {
  return readdirSync(folder)
    .filter((name) => /\.jsonl(\.gz)?$/.test(name))
    .map((name) => name.replace(/\.jsonl(\.gz)?$/, ''))
    .sort()
}

/** The file of a recorded set, or of a recording elsewhere. @throws when there is none. */
export function recordingFile(set: string): string {
  if (existsSync(set)) return set
  const name = readdirSync(folder).find((file) => file.replace(/\.jsonl(\.gz)?$/, '') === set)
  if (name === undefined) throw new Error(`no recording named ${set} in ${folder}`)
  return folder + name
}

/** How a server is started that is asked a set, beyond what is so for all. */
const SERVER_ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  'families-ipv4-ipv6': ['--service-cluster-ip-range', '10.96.0.0/16,fd00:10:96::/112'],
  'families-ipv6-ipv4': ['--service-cluster-ip-range', 'fd00:10:96::/112,10.96.0.0/16'],
  'families-ipv6': ['--service-cluster-ip-range', 'fd00:10:96::/112'],
}

/** Sets of the same arguments may be asked of one server. */
export const serverArguments = (set: string): readonly string[] =>
  SERVER_ARGUMENTS[basename(set).replace(/\.jsonl(\.gz)?$/, '')] ?? []

/** Why a case is left out of replays; or only some of its steps, which are asked all the same. */
type LeftOut = string | { readonly steps: readonly number[]; readonly why: string }

/** By set, the names of cases whose answers depend on timing, with the reason. */
export const timingDependent: Readonly<Record<string, Readonly<Record<string, LeftOut>>>> = JSON.parse(
  readFileSync(new URL('timing.json', import.meta.url), 'utf8'),
)

const leftOut = (set: string, name: string): LeftOut | undefined => {
  const cases = timingDependent[set] ?? {}
  return Object.hasOwn(cases, name) ? cases[name] : undefined
}

/** What is replayed of a set. */
export function replayCases(set: string): readonly RecordedCase[] {
  return readRecording(recordingFile(set)).filter(({ name }) => typeof leftOut(set, name) !== 'string')
}

/** Whether the answer of a step that is asked is left out. */
export function isStepLeftOut(set: string, name: string, step: number): boolean {
  const found = leftOut(set, name)
  return typeof found === 'object' && found.steps.includes(step)
}
