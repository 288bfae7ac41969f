/** /etc/hosts and the resolver's settings of pods (API concepts: HostAliases, pod's DNS policy). */
import { readFileSync } from 'node:fs'
import { hostname as machineName } from 'node:os'
import { nameOf, namespaceOf, type Pod, specOf } from '../pod.ts'

export interface ResolverSettings {
  readonly servers: readonly string[]
  readonly searches: readonly string[]
  readonly options: readonly string[]
}

export interface ClusterDns {
  /** Empty: there is none, and pods use the node's. */
  readonly servers: readonly string[]
  readonly domain: string
  /** The machine's own configuration. Default: /etc/resolv.conf; empty: none. */
  readonly hostFile?: string | undefined
}

const HEADER = '# Kubernetes-managed hosts file'

export function hostsFile(pod: Pod, podIPs: readonly string[], domain: string): string {
  const { hostNetwork, hostAliases = [] } = specOf(pod)
  const lines =
    hostNetwork === true
      ? [`${HEADER} (host network).`, readOr('/etc/hosts', '').replace(/\n$/, '')]
      : [
          `${HEADER}.`,
          '127.0.0.1\tlocalhost',
          '::1\tlocalhost ip6-localhost ip6-loopback',
          'fe00::0\tip6-localnet',
          'fe00::0\tip6-mcastprefix',
          'fe00::1\tip6-allnodes',
          'fe00::2\tip6-allrouters',
          ...podIPs.map((ip) => [ip, ...namesOf(pod, domain)].join('\t')),
        ]
  if (hostAliases.length > 0) {
    lines.push('', '# Entries added by HostAliases.')
    for (const { ip, hostnames = [] } of hostAliases) lines.push([ip, ...hostnames].join('\t'))
  }
  return `${lines.join('\n')}\n`
}

/** The full name first, where the pod has one: a name of the host's own (KEP-4762) is all there is. */
function namesOf(pod: Pod, domain: string): readonly string[] {
  const { subdomain, hostnameOverride } = specOf(pod)
  const name = hostnameOf(pod)
  return subdomain && !hostnameOverride ? [`${name}.${subdomain}.${namespaceOf(pod)}.svc.${domain}`, name] : [name]
}

/** What the pod's containers see as their host's name: at most 63 characters, as the kernel has it. */
function hostnameOf(pod: Pod): string {
  const { hostname, hostNetwork, hostnameOverride } = specOf(pod)
  if (hostnameOverride) return hostnameOverride
  if (hostNetwork === true) return machineName()
  const name = hostname ? hostname : nameOf(pod)
  return name.slice(0, 63).replace(/[-.]+$/, '')
}

/** The sandbox's: with `setHostnameAsFQDN` the full name. @throws Error when it is longer than the kernel takes */
export function sandboxHostname(pod: Pod, domain: string): string {
  const { subdomain, setHostnameAsFQDN, hostNetwork } = specOf(pod)
  const name = hostnameOf(pod)
  // It shares the host's name with its network.
  if (hostNetwork === true && name === machineName()) return ''
  if (setHostnameAsFQDN !== true || !subdomain) return name
  const full = `${name}.${subdomain}.${namespaceOf(pod)}.svc.${domain}`
  if (full.length > 64)
    throw new Error(
      `failed to construct FQDN from pod hostname and cluster domain, FQDN ${full} is too long (64 characters is the max, ${full.length} characters requested)`,
    )
  return full
}

const MOST_SERVERS = 3
const MOST_SEARCHES = 32
/** Of all search paths, with what is between them. */
const MOST_SEARCH_CHARACTERS = 2048

export interface PodResolver extends ResolverSettings {
  /** The pod asked for the cluster's names, and there is nothing that knows them. */
  readonly fallsBack: boolean
  /** What was left out of it, because a resolver would not take it. */
  readonly omitted: readonly string[]
}

export function resolverOf(
  pod: Pod,
  cluster: ClusterDns,
  hostFile = cluster.hostFile ?? '/etc/resolv.conf',
): PodResolver {
  const { dnsPolicy = 'ClusterFirst', dnsConfig, hostNetwork } = specOf(pod)
  const wantsCluster = dnsPolicy === 'ClusterFirstWithHostNet' || (dnsPolicy === 'ClusterFirst' && hostNetwork !== true)
  const fallsBack = wantsCluster && cluster.servers.length === 0
  const host = parseResolver(hostFile === '' ? '' : readOr(hostFile, ''))
  let settings: ResolverSettings
  if (dnsPolicy === 'None') settings = { servers: [], searches: [], options: [] }
  else if (wantsCluster && !fallsBack) {
    const { domain } = cluster
    const own = [`${namespaceOf(pod)}.svc.${domain}`, `svc.${domain}`, domain]
    settings = { servers: cluster.servers, searches: unique([...own, ...host.searches]), options: ['ndots:5'] }
  } else settings = host
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {}
  const named = new Map(settings.options.map((option) => [option.split(':')[0]!, option]))
  for (const { name = '', value } of options) named.set(name, value ? `${name}:${value}` : name)
  const all = {
    servers: dnsConfig === undefined ? settings.servers : unique([...settings.servers, ...nameservers]),
    searches: dnsConfig === undefined ? settings.searches : unique([...settings.searches, ...searches]),
    options: [...named.values()],
  }
  return { ...withinLimits(all), fallsBack }
}

function withinLimits({
  servers,
  searches,
  options,
}: ResolverSettings): ResolverSettings & Pick<PodResolver, 'omitted'> {
  const fewServers = servers.slice(0, MOST_SERVERS)
  let fewSearches = searches.slice(0, MOST_SEARCHES)
  while (fewSearches.join(' ').length > MOST_SEARCH_CHARACTERS) fewSearches = fewSearches.slice(0, -1)
  const omitted: string[] = []
  if (fewServers.length < servers.length)
    omitted.push(
      `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${fewServers.join(' ')}`,
    )
  if (fewSearches.length < searches.length)
    omitted.push(
      `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${fewSearches.join(' ')}`,
    )
  return { servers: fewServers, searches: fewSearches, options, omitted }
}

export function parseResolver(text: string): ResolverSettings {
  const servers: string[] = []
  let searches: readonly string[] = []
  let options: readonly string[] = []
  for (const line of text.split('\n')) {
    const [word, ...rest] = line
      .replace(/[#;].*$/, '')
      .trim()
      .split(/\s+/)
    if (word === 'nameserver' && rest[0] !== undefined) servers.push(rest[0])
    else if (word === 'search') searches = rest.map((name) => (name === '.' ? name : name.replace(/\.$/, '')))
    else if (word === 'options') options = rest
  }
  return { servers, searches, options }
}

const unique = (values: readonly string[]) => [...new Set(values)]

function readOr(file: string, without: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return without
  }
}
