/** What this machine must have for real containers, looked at before anything is started: each thing that is missing in one line, with how to get it. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, sleep } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { type Connection, connect, isRpcUnknown } from '../runtimes/cri/connection.ts'
import { type ContainerdConfiguration, containerdConfiguration } from './containerd-configuration.ts'
import { whyNoIPv6 } from './forwarding.ts'

/** Where runtimes listen, in the order in which they are looked for. */
export const USUAL_ENDPOINTS = [
  'unix:///run/containerd/containerd.sock',
  'unix:///run/crio/crio.sock',
  'unix:///run/k3s/containerd/containerd.sock',
] as const

/** CNI plugins that the pods' network is made of. */
const PLUGINS = ['ptp', 'host-local', 'loopback']

export interface FoundRuntime {
  readonly endpoint: string
  readonly name: string
  readonly version: string
  /** Where it looks for CNI plugins and their configuration. */
  readonly pluginDirectory: string
  readonly configurationDirectory: string
  /** Its name for the image of sandboxes; undefined where it does not tell. */
  readonly sandboxImage: string | undefined
  readonly cgroupDriver: 'cgroupfs' | 'systemd'
  readonly hasPortmap: boolean
  /** What a second runtime on this machine needs to be like it. */
  readonly manner: RuntimeManner
}

/** As far as it tells. */
export interface RuntimeManner {
  readonly snapshotter?: string
  readonly restrictOOMScoreAdj?: boolean
  readonly disableApparmor?: boolean
  readonly enableSelinux?: boolean
  /** Where it finds its registries. */
  readonly registryConfigPath?: string
}

export interface Checked {
  readonly runtime: FoundRuntime | undefined
  /** One line each. */
  readonly problems: readonly string[]
}

const COMMANDS = [['mount', 'util-linux']] as const
/** What makes the pods' network, and leads Services. */
const COMMANDS_OF_TRAFFIC = [
  ['ip', 'iproute2'],
  ['nft', 'nftables'],
  ['conntrack', 'conntrack'],
] as const
/** What makes namespaces for a further node, and what runs its containers. */
const COMMANDS_OF_FURTHER_NODES = [
  ['unshare', 'util-linux'],
  ['setpriv', 'util-linux'],
  ['containerd', 'containerd'],
] as const

export interface WantedOfMachine {
  /** In namespaces of this machine. */
  readonly hasFurtherNodes?: boolean
  /** The pods' network is made by others, as are the ways to Services. */
  readonly hasNetworkOfOthers?: boolean
  /** Pods have addresses of IPv6. */
  readonly hasIPv6?: boolean
}

export async function checkMachine(
  clock: Clock,
  asked: string | undefined,
  { hasFurtherNodes = false, hasNetworkOfOthers = false, hasIPv6 = false }: WantedOfMachine = {},
): Promise<Checked> {
  const problems: string[] = []
  if (process.platform !== 'linux')
    return { runtime: undefined, problems: ['real containers need Linux: leave --runtime at simulated'] }
  if (process.getuid?.() !== 0)
    problems.push('real containers need root: run skiff with sudo, or leave --runtime at simulated')
  if (!existsSync('/sys/fs/cgroup/cgroup.controllers') && !existsSync('/sys/fs/cgroup/memory'))
    problems.push('no control groups are mounted: mount -t cgroup2 none /sys/fs/cgroup')
  const noIPv6 = hasIPv6 ? whyNoIPv6() : undefined
  if (noIPv6 !== undefined)
    problems.push(`this machine gives no addresses of IPv6, as --service-cluster-ip-range wants them: ${noIPv6}`)
  const commands = [
    ...COMMANDS,
    ...(hasNetworkOfOthers ? [] : COMMANDS_OF_TRAFFIC),
    ...(hasFurtherNodes ? COMMANDS_OF_FURTHER_NODES : []),
  ]
  for (const [command, packet] of commands)
    if (!isCommand(command)) problems.push(`the command ${command} is missing: apt-get install ${packet}`)
  const endpoint = asked ?? USUAL_ENDPOINTS.find((one) => existsSync(one.slice('unix://'.length)))
  if (endpoint === undefined) {
    problems.push(
      `no container runtime listens at ${USUAL_ENDPOINTS.map((one) => one.slice(7)).join(' or ')}: apt-get install containerd, or name another by --cri-endpoint`,
    )
    return { runtime: undefined, problems }
  }
  if (!endpoint.startsWith('unix:///')) {
    problems.push(`the endpoint ${endpoint} is no unix socket: give unix:///path/to/its.sock`)
    return { runtime: undefined, problems }
  }
  const runtime = await findRuntime(clock, endpoint, hasNetworkOfOthers ? [] : PLUGINS, problems)
  if (hasFurtherNodes && runtime !== undefined && runtime.name !== 'containerd')
    problems.push(`${runtime.name} runs one node: several nodes need containerd, or leave --nodes at 1`)
  return { runtime, problems }
}

/** How long a runtime may take to know its containers again. */
const INITIALIZATION_MS = 60_000
const LOOK_AGAIN_MS = 100

/** A containerd that has just begun refuses all calls until it knows its containers again, which takes seconds where there are many. */
export async function onceInitialized<T>(clock: Clock, call: () => Promise<T>): Promise<T> {
  for (const from = clock.monotonic(); ; await sleep(clock, LOOK_AGAIN_MS)) {
    try {
      return await call()
    } catch (error) {
      if (!isRpcUnknown(error) || clock.monotonic() - from > INITIALIZATION_MS) throw error
    }
  }
}

async function findRuntime(
  clock: Clock,
  endpoint: string,
  plugins: readonly string[],
  problems: string[],
): Promise<FoundRuntime | undefined> {
  const connection = connect(clock, endpoint, 'runtime')
  try {
    const { runtime_name: name, runtime_version: version } = await onceInitialized(clock, () =>
      connection.call<{ runtime_name: string; runtime_version: string }>(
        'Version',
        { version: 'v1' },
        { timeoutMs: 10_000 },
      ),
    )
    const settings = await settingsOf(connection, () => containerdConfiguration(clock, endpoint))
    const missing = plugins.filter((plugin) => !existsSync(join(settings.pluginDirectory, plugin)))
    if (missing.length > 0)
      problems.push(
        `CNI plugins ${missing.join(', ')} are missing in ${settings.pluginDirectory}: apt-get install containernetworking-plugins${settings.pluginDirectory === '/usr/lib/cni' ? '' : ` (Debian puts them into /usr/lib/cni: set bin_dir in ${name}'s configuration)`}`,
      )
    return { endpoint, name, version: version.replace(/^v/, ''), ...settings }
  } catch (error) {
    problems.push(
      `${endpoint.slice(7)} does not answer as a CRI v1 runtime (${messageOf(error)}): is it running, with its CRI plugin enabled?`,
    )
    return undefined
  } finally {
    connection.close()
  }
}

type Settings = Omit<FoundRuntime, 'endpoint' | 'name' | 'version'>

interface RuntimeSettings {
  readonly sandboxImage?: string
  readonly cni?: { readonly binDir?: string; readonly binDirs?: readonly string[]; readonly confDir?: string }
  readonly restrictOOMScoreAdj?: boolean
  readonly disableApparmor?: boolean
  readonly enableSelinux?: boolean
  readonly registry?: { readonly configPath?: string }
  readonly containerd?: {
    readonly snapshotter?: string
    readonly defaultRuntimeName?: string
    readonly runtimes?: Readonly<Record<string, { readonly options?: { readonly SystemdCgroup?: boolean } }>>
  }
}

/** `more`: of a runtime that does not tell all. */
async function settingsOf(connection: Connection, more: () => Promise<ContainerdConfiguration>): Promise<Settings> {
  const { info } = await connection.call<{ info: Readonly<Record<string, string>> }>('Status', { verbose: true })
  let said: RuntimeSettings = {}
  try {
    said = JSON.parse(info['config'] ?? '{}') as RuntimeSettings
  } catch {
    // A runtime that tells of its settings in another form has the usual ones.
  }
  const told = said.sandboxImage ? {} : await more()
  const { cni, containerd, sandboxImage = told.sandboxImage } = said
  const { sandboxImage: _, ...images } = told
  const pluginDirectory = cni?.binDirs?.[0] ?? cni?.binDir ?? '/opt/cni/bin'
  const main = containerd?.runtimes?.[containerd.defaultRuntimeName ?? 'runc']
  return {
    pluginDirectory,
    configurationDirectory: cni?.confDir ?? '/etc/cni/net.d',
    sandboxImage: sandboxImage === '' ? undefined : sandboxImage,
    cgroupDriver: main?.options?.SystemdCgroup === true ? 'systemd' : 'cgroupfs',
    hasPortmap: existsSync(join(pluginDirectory, 'portmap')) && isCommand('iptables'),
    manner: { ...images, ...mannerOf(said) },
  }
}

function mannerOf({ containerd, registry, ...said }: RuntimeSettings): RuntimeManner {
  const { restrictOOMScoreAdj, disableApparmor, enableSelinux } = said
  return {
    ...(containerd?.snapshotter ? { snapshotter: containerd.snapshotter } : {}),
    ...(restrictOOMScoreAdj === undefined ? {} : { restrictOOMScoreAdj }),
    ...(disableApparmor === undefined ? {} : { disableApparmor }),
    ...(enableSelinux === undefined ? {} : { enableSelinux }),
    ...(registry?.configPath ? { registryConfigPath: registry.configPath } : {}),
  }
}

export function isCommand(name: string): boolean {
  const places = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/sbin']
  return places.some((place) => place !== '' && existsSync(join(place, name)))
}

/** Configurations of networks, as a runtime takes the first of them. */
export function networkConfigurations(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => /\.(conf|conflist|json)$/.test(name))
      .sort()
  } catch {
    return []
  }
}
