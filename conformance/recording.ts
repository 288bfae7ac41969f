/**
 * conformance: what a real Kubernetes answered, as data, and the machinery to ask any cluster the same. Nothing of src/ is
 * used: a cluster is known here only by its kubeconfig.
 *
 * A recording is a .jsonl file: one case a line, each a short sequence of requests with the normalized answers.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'

export interface Step {
  /** HTTP method. */
  readonly m: string
  /** Path; `$NS` is the case's namespace, `{{0.metadata.uid}}` a value from the answer to step 0. */
  readonly p: string
  /** The same stands for the same here; `{{repeat x 5000}}` is a long text. */
  readonly b?: string | undefined
  /** A body that is no text, in base64, instead of `b`. */
  readonly b64?: string
  readonly h?: Readonly<Record<string, string | readonly string[]>>
  /** Asked with this bearer token (or, when it is empty, by nobody) instead of the administrator's certificate. */
  readonly token?: string
  /** A recorder waits a moment before: what the steps before changed reaches a real server's caches later than its answer. */
  readonly settle?: boolean
  /** Asked again until the answer holds all these texts: what a server does by itself takes it a moment. */
  readonly until?: string | readonly string[]
}

export interface Answer {
  readonly code: number
  readonly type?: string | undefined
  readonly warning?: string
  /** Those that the case asks for. */
  readonly headers?: Readonly<Record<string, string>>
  /** Relations between times that do not hold in it (times.ts). */
  readonly broken?: readonly string[]
  // biome-ignore lint/suspicious/noExplicitAny: any body a server may answer
  readonly body: any
}

export interface Case {
  readonly name: string
  readonly steps: readonly Step[]
  /** false: the case needs no namespace of its own. */
  readonly ns?: boolean
  /** Cases that use the same cluster-scoped names run one after the other. */
  readonly serial?: boolean
  /** Needs the Gadget CustomResourceDefinition (gadget.json). */
  readonly gadget?: boolean
  /** Errors are compared as sets: those about custom resources come in no fixed order. */
  readonly anyOrder?: boolean
  /** Headers that are compared too, by lower-case name. */
  readonly headers?: readonly string[]
  /** Each step is asked in a second of its own, and times are named by their steps (times.ts). */
  readonly paced?: boolean
}

export interface RecordedCase extends Case {
  readonly want: readonly Answer[]
}

export function readRecording(file: string): readonly RecordedCase[] {
  const raw = readFileSync(file)
  const text = (file.endsWith('.gz') ? gunzipSync(raw) : raw).toString('utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RecordedCase)
}

export function writeRecording(file: string, cases: readonly RecordedCase[]): void {
  const text = `${cases.map((c) => JSON.stringify(c)).join('\n')}\n`
  writeFileSync(file, file.endsWith('.gz') ? gzipSync(text, { level: 9 }) : text)
}
