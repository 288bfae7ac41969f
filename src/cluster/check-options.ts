/** What startCluster is given by programs that no type checks: unknown names, values of other types, and out of bounds. */
import type { UserInfo } from '../api/request.ts'
import { LARGEST_SEED } from '../apiserver/faults/grammar.ts'
import type { ClusterOptions } from './cluster-options.ts'
import { StartError } from './errors.ts'
import { ADMISSION_PLUGINS, CLOCKS, COMPONENTS, CONTROLS, MOST_NODES_OF_A_CLUSTER } from './options.ts'
import { SECURITY_OPTIONS } from './security.ts'

/** What is wrong with a value, as it goes on behind the option's name; undefined: nothing. */
type Check = (value: unknown) => string | undefined

const must =
  (what: string, holds: (value: unknown) => boolean): Check =>
  (value) =>
    holds(value) ? undefined : ` must be ${what}, not ${shown(value)}`

const isText = (value: unknown) => typeof value === 'string'
const text = must('a text that is not empty', (value) => isText(value) && value !== '')
const flag = must('true or false', (value) => typeof value === 'boolean')
const task = must('a function', (value) => typeof value === 'function')
const fields = must('an object', isFields)

const whole = (least: number, most: number): Check =>
  must(
    most === Number.POSITIVE_INFINITY
      ? `a whole number from ${least} on`
      : `a whole number from ${least} to ${Math.min(most, LARGEST_SEED)}`,
    (value) => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most,
  )

const oneOf = (...names: readonly string[]): Check =>
  must(names.map((name) => `'${name}'`).join(' or '), (value) => names.includes(value as string))

const listOf =
  (each: Check, what: string): Check =>
  (value) => {
    if (!Array.isArray(value)) return ` must be a list of ${what}, not ${shown(value)}`
    for (const [index, item] of value.entries()) {
      const wrong = each(item)
      if (wrong !== undefined) return `[${index}]${wrong}`
    }
    return undefined
  }

const texts = listOf(must('a text', isText), 'texts')
const manifests = listOf(
  must('a file, a folder or an object', (value) => isText(value) || isFields(value)),
  'files, folders and objects',
)

const plugins = listOf((value) => {
  if (typeof value !== 'string') return ` must be a text, not ${shown(value)}`
  return ADMISSION_PLUGINS.has(value) ? undefined : `: there is no admission plugin ${JSON.stringify(value)}`
}, 'admission plugins')

const words: Check = (value) => {
  if (Array.isArray(value)) return texts(value)
  if (!isFields(value)) return ` must be a list such as ['watch drop 5%'], or an object, not ${shown(value)}`
  const wrong = Object.entries(value).find(([, rest]) => ![rest].flat().every(isText))
  return wrong === undefined ? undefined : `[${JSON.stringify(wrong[0])}] must be a text, not ${shown(wrong[1])}`
}

const named =
  (names: readonly string[]): Check =>
  (value) => {
    if (!isFields(value)) return fields(value)
    const unknown = Object.keys(value).find((name) => !names.includes(name))
    return unknown === undefined ? undefined : `: ${noSuch(unknown, names)}`
  }

const inOrder = (...checks: readonly Check[]): Check => {
  return (value) => {
    for (const check of checks) {
      const wrong = check(value)
      if (wrong !== undefined) return wrong
    }
    return undefined
  }
}

const within =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) => {
    for (const [name, check] of Object.entries(checks)) {
      const part = (value as Readonly<Record<string, unknown>>)[name]
      const wrong = part === undefined ? undefined : check(part)
      if (wrong !== undefined) return `.${name}${wrong}`
    }
    return undefined
  }

const simulation = {
  directory: text,
  forward: texts,
  stages: manifests,
  nodesBeside: whole(0, MOST_NODES_OF_A_CLUSTER),
}
/** As snapshot.ts makes them. */
const isSnapshot = (value: unknown) =>
  typeof value === 'object' && value !== null && 'image' in value && 'time' in value

const CHECKS: Readonly<Record<keyof ClusterOptions, Check>> = {
  clock: oneOf(...CLOCKS),
  from: must('a snapshot, or the name of a file of one', (value) => isText(value) || isSnapshot(value)),
  crds: manifests,
  objects: manifests,
  faults: words,
  seed: whole(0, LARGEST_SEED),
  controls: listOf(oneOf(...CONTROLS), 'controls'),
  dataDir: text,
  port: whole(0, 65_535),
  host: text,
  advertiseAddress: text,
  nodes: whole(0, MOST_NODES_OF_A_CLUSTER),
  clusterCidr: text,
  containerRuntime: oneOf('simulated', 'cri'),
  criEndpoint: text,
  simulation: inOrder(named(Object.keys(simulation)), within(simulation)),
  components: listOf(oneOf(...COMPONENTS), 'components'),
  scheduler: fields,
  disableAdmissionPlugins: plugins,
  enableAdmissionPlugins: plugins,
  allowPrivileged: flag,
  security: named(SECURITY_OPTIONS),
  storage: oneOf('lmdb', 'memory'),
  etcd: inOrder(fields, within({ servers: text }), (value) =>
    (value as { servers?: unknown }).servers === undefined
      ? '.servers is missing: URLs, separated by commas'
      : undefined,
  ),
  kubeconfigFile: text,
  logLevel: whole(0, Number.POSITIVE_INFINITY),
  onProgress: task,
  onStoreState: task,
  onUnhandled: must("'process' or a function", (value) => value === 'process' || typeof value === 'function'),
  keepRequests: whole(0, Number.POSITIVE_INFINITY),
  directoryHeld: flag,
  podManifestPath: text,
  manifestUrl: fields,
  eviction: fields,
  imageGc: fields,
  allowedUnsafeSysctls: texts,
  shutdown: fields,
}

/** @throws StartError that names the option, what it must be and what it is */
export function checkOptions(options: unknown): asserts options is ClusterOptions {
  if (!isFields(options)) throw new StartError(`the options of a cluster must be an object, not ${shown(options)}`)
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(CHECKS, name) ? CHECKS[name as keyof ClusterOptions] : undefined
    if (check === undefined) throw new StartError(noSuch(name, Object.keys(CHECKS)))
    const wrong = value === undefined ? undefined : check(value)
    if (wrong !== undefined) throw new StartError(`${name}${wrong}`)
  }
}

/** `groups` may be missing: then there are none. @throws StartError */
export function checkedUser(user: UserInfo): UserInfo {
  if (!isFields(user) || text(user.name) !== undefined)
    throw new StartError(`a user is an object with a name, { name: 'bob', groups: ['dev'] }, not ${shown(user)}`)
  const wrong = user.groups === undefined ? undefined : texts(user.groups)
  if (wrong !== undefined) throw new StartError(`groups${wrong}`)
  return user.groups === undefined ? { ...(user as UserInfo), groups: [] } : user
}

/** Of the options of a call other than startCluster. @throws StartError */
export function checkNames(options: unknown, names: readonly string[]): void {
  const wrong = named(names)(options)
  if (wrong !== undefined) throw new StartError(`the options${wrong}`)
}

function noSuch(name: string, names: readonly string[]): string {
  const lower = name.toLowerCase()
  const guess = names.find((one) => {
    const other = one.toLowerCase()
    return lower !== '' && (other.startsWith(lower) || lower.startsWith(other))
  })
  const hint = guess === undefined ? `there are ${names.join(', ')}` : `did you mean ${guess}?`
  return `there is no option ${JSON.stringify(name)}: ${hint}`
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const LONGEST_SHOWN = 60

function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' && typeof value !== 'string') return String(value)
  if (isFields(value)) return 'an object'
  const whole = Array.isArray(value)
    ? `[${value.map((item) => (Array.isArray(item) ? 'a list' : shown(item))).join(',')}]`
    : JSON.stringify(value)
  return whole.length > LONGEST_SHOWN ? `${whole.slice(0, LONGEST_SHOWN)}…` : whole
}
