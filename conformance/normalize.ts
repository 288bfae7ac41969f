/**
 * Answers of two clusters differ in what chance and time decide: uids, versions, times, addresses, ports, the case's
 * namespace. Normalizing replaces them by names (`<uid1>`, equal ones equal), sorts keys, and leaves the rest as it is.
 */
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

// 2026-01-01 is the date that recorded requests themselves contain; it is kept, and its age in Tables grows by the day.
const replacements: readonly (readonly [RegExp, string])[] = [
  [/(?!2026-01-01)20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g, '<microtime>'],
  [/\b10\.96\.\d+\.\d+\b/g, '<ip>'],
  [/\bfd00:10:96::[0-9a-f]{1,4}\b/g, '<ipv6>'],
  [/\b(probe-gen-|Bad_|kube-api-access-)[a-z0-9]{5}\b/g, '$1<5>'],
  [/(\\+"(?:nodePort|healthCheckNodePort)\\+":)3\d{4}\b/g, '$1<port>'],
  [/\\"resourceVersion\\":\\"\d+\\"/g, '\\"resourceVersion\\":\\"<rv>\\"'],
  [/"resourceVersion":"\d+"/g, '"resourceVersion":"<rv>"'],
  [/X509SHA256=[0-9a-f]{64}/g, 'X509SHA256=<hash>'],
  [/127\.0\.0\.1:\d{2,}/g, '127.0.0.1:<port>'],
  [/localhost:[3-6]\d{4}\b/g, 'localhost:<port>'],
  [/^LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t.*$/g, '<ca>'],
  [/"https:\/\/kubernetes\.default\.svc(\.cluster\.local)?"/g, '"<issuer>"'],
  [/^https:\/\/kubernetes\.default\.svc(\.cluster\.local)?$/, '<issuer>'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<token>'],
  [/(object not decodable revision=)\d+/g, '$1<rv>'],
  [/(in record|in the precondition) \(\d+\)/g, '$1 (<rv>)'],
]

const TIME = /(?!2026-01-01)20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/g

const UNORDERED: Readonly<Record<string, string>> = { resources: 'name', conditions: 'type' }

/**
 * A normalizer for one case: the numbering of uids and versions goes on from answer to answer. `timeName` names a time of whole
 * seconds.
 */
export function createNormalizer(
  namespace: string,
  timeName: (time: string) => string = () => '<time>',
): (text: string) => unknown {
  const uids = new Map<string, string>()
  const versions = new Map<string, string>()
  let own = false
  const nameFor = (names: Map<string, string>, prefix: string, value: string): string => {
    let name = names.get(value)
    if (name === undefined) {
      name = `<${prefix}${names.size + 1}>`
      names.set(value, name)
    }
    return name
  }
  const normalizeText = (text: string): string => {
    let out = text.replaceAll(namespace, '$NS').replace(UUID, (uid) => nameFor(uids, 'uid', uid))
    for (const [pattern, replacement] of replacements) out = out.replace(pattern, replacement)
    return out.replace(TIME, timeName)
  }
  /** Of one group's definitions Kubernetes lists the resources as a map gives them; two loops race for conditions. */
  const inFixedOrder = (key: string, list: readonly unknown[]): readonly unknown[] => {
    const by = own ? UNORDERED[key] : undefined
    if (by === undefined) return list
    const nameOf = (item: unknown) => String((item as Record<string, unknown> | null)?.[by] ?? '')
    return [...list].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  }
  const tableCell = (cell: unknown): unknown =>
    typeof cell === 'string'
      ? normalizeText(cell)
          .replace(/^\d+s$/, '<age>')
          .replace(/^(.* \()?(\d{3,}d|\d+y(\d+d)?)( ago\))?$/, '$1<long age>$4')
          .replace(/:3\d{4}\//g, ':<port>/')
      : normalizeValue(cell, '', false)
  const normalizeValue = (value: unknown, key: string, inList: boolean): unknown => {
    if (typeof value === 'string') {
      if (key === 'resourceVersion') return value === '' ? value : inList ? '<rv>' : nameFor(versions, 'rv', value)
      // A hash of the group's name, which is the case's own.
      if (key === 'storageVersionHash' && own) return '<hash>'
      if (key === 'continue') return value === '' ? value : '<continue>'
      return normalizeText(value)
    }
    if (typeof value === 'number')
      return (key === 'nodePort' || key === 'healthCheckNodePort') && value >= 30000 ? '<port>' : value
    if (Array.isArray(value))
      return inFixedOrder(key, value).map((item) =>
        key === 'cells' ? tableCell(item) : normalizeValue(item, key, false),
      )
    if (value === null || typeof value !== 'object') return value
    const object = value as Record<string, unknown>
    // A list's version is the cluster's, which other cases move. A definition may name its lists as it likes.
    const isList = Array.isArray(object['items']) || /List$|^Table$/.test(String(object['kind'] ?? ''))
    const sorted: Record<string, unknown> = {}
    for (const name of Object.keys(object).sort())
      sorted[name] = normalizeValue(object[name], name, (name === 'metadata' && isList) || (inList && name !== 'items'))
    return sorted
  }
  return (text) => {
    own = text.includes(`${namespace}.example.com`) || text.includes(`${namespace}.k8s.io`)
    if (/^\s*[{[]/.test(text)) {
      const parsed = parseDocuments(text)
      if (parsed !== undefined)
        return parsed.single
          ? normalizeValue(parsed.documents[0], '', false)
          : parsed.documents.map((document) => normalizeValue(document, '', false))
    }
    return normalizeText(text)
  }
}

/** One JSON document, or one a line (a watch); undefined when it is neither. */
function parseDocuments(text: string): { single: boolean; documents: readonly unknown[] } | undefined {
  try {
    return { single: true, documents: [JSON.parse(text)] }
  } catch {
    try {
      return {
        single: false,
        documents: text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      }
    } catch {
      return undefined
    }
  }
}
