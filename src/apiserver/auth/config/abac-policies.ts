/** The policy file of the authorization mode ABAC, read once, when the server starts. */
import { topOf } from '../../../api/codec/body-source.ts'
import { MissingKindError, nodesIn, unknownIn } from '../../../api/configuration/decode.ts'
import { type Struct, struct } from '../../../api/configuration/shape.ts'
import type { Fields } from '../../../api/object.ts'
import { goQuote } from '../../../api/quote.ts'
import { plainOf } from '../../../api/values/json.ts'
import { messageOf } from '../../../base/errors.ts'
import type { Policy } from '../abac.ts'
import { ConfigurationError } from './document.ts'

const GROUP = 'abac.authorization.kubernetes.io'
const KIND = 'Policy'
const ALL = '*'
const AUTHENTICATED = 'system:authenticated'
/** In bytes, without its end: what kube-apiserver reads of a line. */
const LONGEST_LINE = 65_535

/**
 * Lines that are empty or begin with # say nothing.
 *
 * @throws ConfigurationError for the first line that is no policy, in kube-apiserver's words
 */
export function parsePolicies(text: string, file: string): readonly Policy[] {
  return text.split('\n').flatMap((whole, i) => {
    if (Buffer.byteLength(whole) > LONGEST_LINE)
      throw new ConfigurationError(`error reading policy file ${file}: bufio.Scanner: token too long`)
    const line = whole.replace(/\r$/, '')
    const trimmed = line.replace(SPACE_AROUND, '')
    if (trimmed === '' || trimmed.startsWith('#')) return []
    try {
      return [policyIn(trimmed)]
    } catch (cause) {
      throw new ConfigurationError(`error reading policy file ${file}, line ${i + 1}: ${line}: ${messageOf(cause)}`, {
        cause,
      })
    }
  })
}

/** Unicode's white space, to which a byte order mark does not belong: what follows one is read as YAML. */
const SPACE_AROUND = /^\p{White_Space}+|\p{White_Space}+$/gu

function policyIn(line: string): Policy {
  const { node } = nodesIn(line)
  const { group, version, kind } = kindOf(
    topOf(node, (message) => new Error(message)),
    line,
  )
  const reader = group === GROUP && (kind || KIND) === KIND ? READERS.get(version) : undefined
  if (reader === undefined)
    throw new Error(
      `no kind ${goQuote(kind || KIND)} is registered for version ${goQuote(group === '' ? version : `${group}/${version}`)} in scheme "pkg/runtime/scheme.go:111"`,
    )
  const value = (plainOf(node) ?? {}) as Fields
  unknownIn(reader.shape, value, reader.goPackage)
  if (kind === '' && version !== UNVERSIONED)
    throw new Error(`converting (${reader.goPackage}.Policy) to (v0.Policy): unknown conversion`)
  return reader.policy(value)
}

/** What says neither group nor version is of those that had none. @throws Error for a group without a version that is not theirs */
function kindOf({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }, line: string) {
  const parts = apiVersion.split('/')
  if (parts.length > 2) throw new Error(`unexpected GroupVersion string: ${apiVersion}`)
  const [group = '', version = ''] = parts.length === 2 ? parts : ['', ...parts]
  if (version !== '') return { group, version, kind }
  if (group !== '' && group !== GROUP) throw new MissingKindError('apiVersion', line)
  return { group: GROUP, version: UNVERSIONED, kind }
}

/** A checked line. */
interface PolicyDocument {
  readonly spec?: unknown
  readonly Spec?: unknown
}

interface PolicyReader {
  readonly shape: Struct
  readonly goPackage: string
  readonly policy: (value: PolicyDocument) => Policy
}

const SUBJECT = { user: 'string', group: 'string', readonly: 'bool', resource: 'string', namespace: 'string' } as const
const SPEC = { ...SUBJECT, apiGroup: 'string', nonResourcePath: 'string' } as const
/** As the fields are called where kube-apiserver holds them. */
const INTERNAL: Readonly<Record<string, keyof typeof SPEC>> = {
  ...{ User: 'user', Group: 'group', Readonly: 'readonly', Resource: 'resource', Namespace: 'namespace' },
  ...{ APIGroup: 'apiGroup', NonResourcePath: 'nonResourcePath' },
}
const TYPED = { apiVersion: 'string', kind: 'string' } as const
/** Of lines from before there were versions. */
const UNVERSIONED = 'v0'

/** By version. */
const READERS: ReadonlyMap<string, PolicyReader> = new Map<string, PolicyReader>([
  [
    'v1beta1',
    {
      goPackage: 'v1beta1',
      shape: struct(KIND, {
        ...TYPED,
        spec: struct('PolicySpec', SPEC),
      }),
      policy: ({ spec }) => forAuthenticated(given(spec)),
    },
  ],
  [
    UNVERSIONED,
    {
      goPackage: 'v0',
      shape: struct(KIND, { ...TYPED, ...SUBJECT }),
      policy: (value) => ofUnversioned(given(value)),
    },
  ],
  [
    // What kube-apiserver makes of the others, which it reads from a file too. There * is each user and group, known or not.
    '__internal',
    {
      goPackage: 'abac',
      shape: struct(KIND, {
        ...TYPED,
        Spec: struct(
          'PolicySpec',
          Object.fromEntries(Object.entries(INTERNAL).map(([name, field]) => [name, SPEC[field]])),
        ),
      }),
      policy: ({ Spec }) => ofInternal(given(Spec)),
    },
  ],
])

/** What is null is not given. */
const given = (value: unknown): Fields =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([, field]) => field !== null))

/** Its names have other capitals. */
const ofInternal = (spec: Fields): Policy =>
  Object.fromEntries(Object.entries(INTERNAL).flatMap(([name, field]) => (name in spec ? [[field, spec[name]]] : [])))

/** A user or group of * means those that are authenticated. */
function forAuthenticated(policy: Policy): Policy {
  return policy.user === ALL || policy.group === ALL ? { ...policy, group: AUTHENTICATED } : policy
}

/** There what was not said meant all of it, and there were neither groups of resources nor paths to say. */
function ofUnversioned({ user, group, readonly = false, namespace, resource }: Policy): Policy {
  return forAuthenticated({
    ...(user || group ? { user: user ?? '', group: group ?? '' } : { group: AUTHENTICATED }),
    readonly,
    apiGroup: ALL,
    namespace: namespace || ALL,
    resource: resource || ALL,
    ...(namespace || resource ? {} : { nonResourcePath: ALL }),
  })
}
