/** The names of resources in an EncryptionConfiguration, refused in the words of kube-apiserver (API concept: encrypting confidential data at rest). */

const WITHOUT_REST = new Set(['apiserveripinfo', 'serviceipallocations', 'servicenodeportallocations'])

const OVERLAPPING =
  "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked"

const groupOf = (name: string): string | undefined => {
  const dot = name.indexOf('.')
  return dot < 0 ? undefined : name.slice(dot + 1)
}

/** What is wrong with one entry's list, found at the field `where`: first of all of it, then of each name. */
export function wrongResources(names: readonly string[], where: string): readonly string[] {
  if (names.length === 0) return [`${where}: Required value: at least one ${where} is required`]
  const invalid = (field: string, value: unknown, why: string) =>
    `${field}: Invalid value: ${JSON.stringify(value)}: ${why}`
  const ofAll = [
    ...(new Set(names).size < names.length ? ['the same resource cannot be specified multiple times'] : []),
    ...(names.some((name, i) => names.some((other, j) => i !== j && masks(other, name))) ? [OVERLAPPING] : []),
  ]
  return [
    ...ofAll.map((why) => invalid(where, names, why)),
    ...names.flatMap((name, i) => {
      const why = wrongName(name)
      return why === undefined ? [] : [invalid(`${where}[${i}]`, name, why)]
    }),
  ]
}

function wrongName(name: string): string | undefined {
  if (name === '*') return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"
  if (/\p{Lu}/u.test(name)) return 'resource name should not contain capital letters'
  if (WITHOUT_REST.has(name)) return 'resources which do not have REST API/s cannot be encrypted'
  const group = groupOf(name)
  if (group === '*' && name !== '*.*') return 'encrypting the same resource across groups is not supported'
  if (group === 'extensions') return "'extensions' group has been removed and cannot be used for encryption"
  if (group === 'events.k8s.io')
    return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file"
  return undefined
}

/** Whether `earlier` is of many and has `name` among them: `*.*` all, `*.apps` a group, `*.` the core group. */
function masks(earlier: string, name: string): boolean {
  if (!earlier.startsWith('*.')) return false
  return earlier === '*.*' || groupOf(earlier) === (groupOf(name) ?? '')
}

/** What is said of the first name, of all entries in their order, that an earlier one of many has made void; undefined: none is. */
export function maskedResource(names: readonly string[]): string | undefined {
  for (const [i, name] of names.entries()) {
    const earlier = names.slice(0, i).find((candidate) => masks(candidate, name))
    if (earlier !== undefined)
      return `resource ${JSON.stringify(name)} is masked by earlier rule ${JSON.stringify(earlier)}`
  }
  return undefined
}
