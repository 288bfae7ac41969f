/**
 * machine: what a node has beside its container runtime when it is a real one: files, mounts, control groups, a network. The kubelet's own
 * steps (sync-pod, start-container) ask it to complete what they are about to ask of the runtime. A simulated node has none. It knows
 * nothing of when pods are synced, and never the API but through what it is handed.
 */

import { readFileSync, statSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import type { Service } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { hasOwnUsers } from '../../api/objects/host-users.ts'
import type { EnvironmentSources } from '../container-environment.ts'
import type { CsiVolumes } from '../csi/csi-volumes.ts'
import type { DevicePlugins } from '../device-plugins/device-plugins.ts'
import type { ContainerAllocation } from '../device-plugins/given-devices.ts'
import type { PreparedClaims } from '../dra/prepared-claims.ts'
import { EnvFileError } from '../env-file.ts'
import type { VolumeImage } from '../image-volumes.ts'
import type { PullRecords } from '../images/pull-records.ts'
import { type Container, initContainersOf, nameOf, namespaceOf, type Pod, specOf, uidOf } from '../pod.ts'
import type { LinuxContainerResources } from '../runtimes/cri/messages.ts'
import type {
  ContainerConfig,
  Mount,
  PodSandboxConfig,
  PullCredentials,
  RealContainerConfig,
  RealSandboxConfig,
  RuntimeFeatures,
  RuntimeHandler,
} from '../runtimes/runtime.ts'
import type { ResourceManagers } from '../topology-manager/resource-managers.ts'
import { expanded } from '../variable-expansion.ts'
import type { Cgroups } from './cgroups.ts'
import { containerResources, type LimitSettings, podResources } from './cpu-shares-and-memory-limits.ts'
import { type ClusterDns, hostsFile, resolverOf, sandboxHostname } from './hosts-and-resolv-conf.ts'
import { credentialsFor } from './image-pull-secrets.ts'
import { mountedBelow, unmountBelow } from './mounts.ts'
import { makeDirectories, type PodDirectories, writeForContainers } from './pod-directories.ts'
import { containerSecurity, type ImageUser, sandboxSecurity } from './security-context.ts'
import { serviceVariables } from './service-environment-variables.ts'
import { mountSubPath, readVolumeFile } from './sub-path.ts'
import { type MachineSwap, NO_SWAP, type SwapSettings, swapOfMachine, swapResources } from './swap-and-oom-group.ts'
import { MESSAGE_PATH, MESSAGE_POLICY } from './termination-message.ts'
import type { UserNamespaces } from './user-namespaces.ts'
import type { MachineVolumes } from './volume-writer.ts'

export interface Machine {
  readonly volumes: MachineVolumes
  /** Devices that drivers have prepared for pods. */
  readonly preparedClaims: PreparedClaims
  /** Absent where no plugins of devices are taken in. */
  readonly devicePlugins?: DevicePlugins
  /** Of CPUs and the like; absent where nothing of them is given out. */
  readonly managers?: ResourceManagers
  /** Makes what the pod needs before its sandbox. `warn`: tells of what is done otherwise than asked. @throws Error */
  sandbox(pod: Pod, config: PodSandboxConfig, warn: Warn): Promise<PodSandboxConfig>
  /** @throws Error that the container's waiting state shows */
  container(request: ContainerRequest): Promise<ContainerConfig>
  /** What a running container is to be held to. */
  resources(pod: Pod, container: Container): LinuxContainerResources
  /** Holds the pod's group to what the pod is given now, as far as what runs in it allows. */
  resizePod(pod: Pod): void
  sources(pod: Pod): Pick<EnvironmentSources, 'services' | 'allocatable' | 'volumeFile'>
  /** What is mounted below the pod's volumes can be kept from being written too. */
  mountsRecursivelyReadOnly(pod: Pod): boolean
  /** Containers can be confined by profiles of AppArmor. */
  hasAppArmor(): boolean
  /** A container can be kept to the groups that its pod names. */
  knowsStrictGroups(): boolean
  credentials(image: string, secrets: readonly KubeObject[]): readonly PullCredentials[]
  /** Absent where nothing is kept of pulls: then any pod may use what is there. */
  readonly pullRecords?: PullRecords
  /** Nothing of the pod runs any more: its volumes and groups go. @throws Error when something is busy */
  release(uid: string): Promise<void>
  /** Nothing of the pod runs any more: mounts, files, logs and groups go. @throws Error when something is busy */
  remove(uid: string): Promise<void>
  /** Pods that have left something here. */
  known(): readonly string[]
}

export type Warn = (reason: string, message: string) => void

export interface ContainerRequest {
  readonly pod: Pod
  readonly container: Container
  /** With what any runtime needs. */
  readonly config: ContainerConfig
  readonly sandbox: PodSandboxConfig
  readonly podIPs: readonly string[]
  readonly imageUser: ImageUser | undefined
  /** By name of the volume. */
  readonly mountedImages: ReadonlyMap<string, VolumeImage>
  /** By their names in the Container Device Interface. */
  readonly cdiDevices: readonly string[]
  /** Of device plugins. Default: none. */
  readonly allocations?: readonly ContainerAllocation[]
  /** The id of the container whose processes an ephemeral one sees. */
  readonly targetId?: string
}

export interface MachineOptions {
  readonly devicePlugins?: DevicePlugins
  readonly managers?: ResourceManagers
  readonly directories: PodDirectories
  readonly volumes: MachineVolumes
  readonly preparedClaims: PreparedClaims
  readonly cgroups: Cgroups
  readonly dns: ClusterDns
  readonly services: () => Iterable<Service>
  readonly allocatable: () => Readonly<Record<string, string>>
  /** The runtime's handler for a RuntimeClass. @throws Error when there is no such class */
  readonly runtimeHandler: (runtimeClass: string) => Promise<string>
  readonly userNamespaces: UserNamespaces
  /** Volumes of drivers. */
  readonly csi?: Pick<CsiVolumes, 'unpublish'>
  /** Default: a kubelet's own. */
  readonly limits?: LimitSettings
  /** Default: containers use no swap. */
  readonly swap?: SwapSettings
  /** Containers without a seccomp profile have the runtime's. */
  readonly seccompDefault?: boolean
  readonly pullRecords?: PullRecords
  /** What the runtime can do; undefined where it does not tell. */
  readonly features: () => RuntimeFeatures | undefined
}

function kernelHasAppArmor(): boolean {
  try {
    return readFileSync('/sys/module/apparmor/parameters/enabled', 'utf8').startsWith('Y')
  } catch {
    return false
  }
}

export function createMachine(options: MachineOptions): Machine {
  const { directories, volumes, preparedClaims, cgroups, dns, userNamespaces, managers } = options
  /** By the name of a RuntimeClass, as it was when a pod of it was last begun. */
  const handlerNames = new Map<string, string>()

  const hasAppArmor = kernelHasAppArmor()

  const machineSwap = (): MachineSwap => ({
    cgroupVersion: cgroups.version,
    memory: BigInt(totalmem()),
    swap: swapOfMachine(),
  })
  function resourcesOf(pod: Pod, container: Container): LinuxContainerResources {
    const hasOwnCpus = managers?.cpus.hasOwnCpus(pod, container) === true
    const resources = containerResources(pod, container, BigInt(totalmem()), options.limits, hasOwnCpus)
    const limit = resources.memory_limit_in_bytes
    return { ...resources, ...swapResources(pod, container, limit, options.swap ?? NO_SWAP, machineSwap()) }
  }
  const hasOwnCpus = (pod: Pod) => managers?.cpus.podHasOwnCpus(pod) === true

  /** Where on the machine it runs. */
  function placeOf(pod: Pod, { name }: Container): LinuxContainerResources {
    const cpus = managers?.cpus.cpusetOf(uidOf(pod), name)
    const mems = managers?.memory.memsOf(uidOf(pod), name)
    return {
      ...(cpus === undefined ? {} : { cpuset_cpus: cpus }),
      ...(mems === undefined ? {} : { cpuset_mems: mems }),
    }
  }

  async function handlerOf(pod: Pod): Promise<string> {
    const { runtimeClassName } = specOf(pod)
    if (!runtimeClassName) return ''
    const name = await options.runtimeHandler(runtimeClassName)
    handlerNames.set(runtimeClassName, name)
    return name
  }

  const featuresOf = (pod: Pod): RuntimeHandler | undefined => {
    const { runtimeClassName } = specOf(pod)
    const handler = runtimeClassName ? handlerNames.get(runtimeClassName) : ''
    return options.features()?.handlers.find(({ name }) => name === handler)
  }

  function isRecursivelyReadOnly(pod: Pod, volume: string, mode: string | undefined): boolean {
    const isSupported = featuresOf(pod)?.recursiveReadOnlyMounts === true
    if (mode === 'IfPossible') return isSupported
    if (mode !== 'Enabled') return false
    if (isSupported) return true
    const why = `volume "${volume}" requested recursive read-only mode, but it is not supported by the runtime`
    throw new Error(`failed to resolve recursive read-only mode: ${why}`)
  }

  async function mountsOf(request: ContainerRequest): Promise<readonly Mount[]> {
    const { pod, container, config, podIPs } = request
    const uid = uidOf(pod)
    const users = userNamespaces.of(pod)
    const mounts: Mount[] = []
    for (const [at, mount] of (container.volumeMounts ?? []).entries()) {
      const subPath = mount.subPathExpr ? expandedPath(mount.subPathExpr, config.envs) : mount.subPath
      const containerPath = mount.mountPath.startsWith('/') ? mount.mountPath : `/${mount.mountPath}`
      const image = request.mountedImages.get(mount.name)
      if (image !== undefined) {
        mounts.push({ volume: mount.name, containerPath, readOnly: true, image: { ...image, subPath: subPath ?? '' } })
        continue
      }
      const path = volumes.pathOf(pod, mount.name)
      if (path === undefined)
        throw new Error(`cannot find volume "${mount.name}" to mount into container "${container.name}"`)
      let hostPath = path
      if (subPath) {
        hostPath = join(directories.subPaths(uid), mount.name, container.name, String(at))
        await mountSubPath(path, subPath, hostPath).catch((error: unknown) => {
          throw new Error(
            `failed to prepare subPath for volumeMount "${mount.name}" of container "${container.name}"`,
            {
              cause: error,
            },
          )
        })
      }
      const readOnly = mount.readOnly === true || volumes.isReadOnly(pod, mount.name)
      mounts.push({
        volume: mount.name,
        containerPath,
        hostPath,
        readOnly,
        propagation: propagationOf(mount.mountPropagation),
        recursiveReadOnly: isRecursivelyReadOnly(pod, mount.name, mount.recursiveReadOnly),
      })
    }
    const isTaken = (path: string) => mounts.some(({ containerPath }) => containerPath === path)
    if (!isTaken('/etc/hosts')) {
      const hosts = join(directories.pod(uid), 'etc-hosts')
      writeForContainers(hosts, hostsFile(pod, podIPs, dns.domain), 0o644)
      mounts.push({ volume: '', containerPath: '/etc/hosts', hostPath: hosts, readOnly: false })
    }
    const message = container.terminationMessagePath ?? '/dev/termination-log'
    if (!isTaken(message)) {
      const directory = directories.termination(uid, container.name)
      makeDirectories(directory)
      const file = join(directory, String(config.metadata.attempt))
      // Any user that the container runs as may write it.
      writeForContainers(file, '', 0o666)
      mounts.push({ volume: '', containerPath: message, hostPath: file, readOnly: false })
    }
    return mounts.map((mount) => ({ ...mount, users }))
  }

  /** @throws Error when what was published is no device */
  function devicesOf(pod: Pod, { name: containerName, volumeDevices = [] }: Container): RealContainerConfig['devices'] {
    return volumeDevices.map(({ name, devicePath }) => {
      const path = volumes.pathOf(pod, name)
      if (path === undefined || statSync(path, { throwIfNoEntry: false })?.isBlockDevice() !== true)
        throw new Error(`cannot find device "${name}" to map into container "${containerName}"`)
      const permissions = volumes.isReadOnly(pod, name) ? 'r' : 'mrw'
      return { container_path: devicePath, host_path: path, permissions }
    })
  }

  async function unmounted(uid: string): Promise<void> {
    volumes.forget(uid)
    await unmountBelow(directories.subPaths(uid))
    await options.csi?.unpublish(uid)
    await unmountBelow(directories.pod(uid))
    if (mountedBelow(directories.pod(uid)).length > 0) throw new Error(`something is still mounted for pod ${uid}`)
  }

  return {
    volumes,
    preparedClaims,
    ...(options.devicePlugins === undefined ? {} : { devicePlugins: options.devicePlugins }),
    ...(managers === undefined ? {} : { managers }),
    async sandbox(pod, config, warn) {
      const runtimeHandler = await handlerOf(pod)
      if (hasOwnUsers(specOf(pod)) && featuresOf(pod)?.userNamespaces !== true)
        throw new Error("can't set `spec.hostUsers: false`, runtime does not support user namespaces")
      const logDirectory = directories.logs(pod)
      makeDirectories(directories.pod(uidOf(pod)), logDirectory)
      cgroups.make(pod, hasOwnCpus(pod))
      const { fallsBack, omitted, ...resolver } = resolverOf(pod, dns)
      for (const message of omitted) warn('DNSConfigForming', message)
      if (fallsBack)
        warn(
          'MissingClusterDNS',
          `pod: "${nameOf(pod)}_${namespaceOf(pod)}(${uidOf(pod)})". kubelet does not have ClusterDNS IP configured and cannot create Pod using "${specOf(pod).dnsPolicy ?? 'ClusterFirst'}" policy. Falling back to "Default" policy.`,
        )
      const { shares, quota, period, memory } = podResources(pod, options.limits, hasOwnCpus(pod))
      const real: RealSandboxConfig = {
        logDirectory,
        dns: resolver,
        portMappings: portMappings(pod),
        runtimeHandler,
        linux: {
          cgroup_parent: cgroups.parentOf(pod),
          security_context: sandboxSecurity(pod, userNamespaces.of(pod)),
          sysctls: Object.fromEntries(
            (specOf(pod).securityContext?.sysctls ?? []).map(({ name, value }) => [name, value]),
          ),
          resources: {
            cpu_shares: shares,
            ...(period === undefined ? {} : { cpu_period: period }),
            ...(quota === undefined ? {} : { cpu_quota: quota }),
            ...(memory === undefined ? {} : { memory_limit_in_bytes: Number(memory) }),
          },
        },
      }
      return { ...config, hostname: sandboxHostname(pod, dns.domain), real }
    },

    async container(request) {
      const { pod, container, config, sandbox, imageUser, targetId } = request
      const mounts = await mountsOf(request)
      const { allocations = [] } = request
      const { stopSignal } = container.lifecycle ?? {}
      return {
        ...config,
        envs: Object.assign({}, ...allocations.map(({ envs }) => envs), config.envs),
        mounts: [...mounts, ...allocations.flatMap((one) => one.mounts.map(mountOfPlugin))],
        annotations: {
          ...Object.assign({}, ...allocations.map((one) => one.annotations)),
          'io.kubernetes.container.restartCount': String(config.metadata.attempt),
          [MESSAGE_PATH]: container.terminationMessagePath ?? '/dev/termination-log',
          [MESSAGE_POLICY]: container.terminationMessagePolicy ?? 'File',
        },
        real: {
          logPath: join(container.name, `${config.metadata.attempt}.log`),
          tty: container.tty === true,
          stdin: container.stdin === true,
          stdinOnce: container.stdinOnce === true,
          devices: [...devicesOf(pod, container), ...allocations.flatMap(({ devices }) => devices)],
          cdiDevices: [...request.cdiDevices, ...allocations.flatMap((one) => one.cdi_devices.map(({ name }) => name))],
          sandbox,
          ...(stopSignal === undefined ? {} : { stopSignal }),
          linux: {
            resources: { ...resourcesOf(pod, container), ...placeOf(pod, container) },
            security_context: containerSecurity(
              pod,
              container,
              imageUser,
              userNamespaces.of(pod),
              targetId,
              options.seccompDefault,
            ),
          },
        },
      }
    },

    resources: (pod, container) => ({
      // Where there is no limit any more the runtime has to be told so.
      cpu_quota: -1,
      memory_limit_in_bytes: -1,
      ...resourcesOf(pod, container),
    }),
    resizePod: (pod) => cgroups.make(pod, hasOwnCpus(pod)),
    sources: (pod) => ({
      services: serviceVariables(options.services(), namespaceOf(pod), specOf(pod).enableServiceLinks !== false),
      allocatable: options.allocatable(),
      volumeFile(name, path) {
        try {
          return readVolumeFile(volumes.pathOf(pod, name), path)
        } catch (error) {
          throw new EnvFileError({ cause: error })
        }
      },
    }),
    mountsRecursivelyReadOnly: (pod) => featuresOf(pod)?.recursiveReadOnlyMounts === true,
    hasAppArmor: () => hasAppArmor,
    knowsStrictGroups: () => options.features()?.supplementalGroupsPolicy === true,
    credentials: credentialsFor,
    ...(options.pullRecords === undefined ? {} : { pullRecords: options.pullRecords }),

    async release(uid) {
      await unmounted(uid)
      directories.removeVolumes(uid)
      cgroups.remove(uid)
    },
    async remove(uid) {
      await unmounted(uid)
      directories.remove(uid)
      userNamespaces.forget(uid)
      cgroups.remove(uid)
      if (cgroups.known().includes(uid)) throw new Error(`the groups of pod ${uid} still have processes`)
    },
    // A runtime that was asked to begin a pod may make its groups after the rest of it has gone.
    known: () => [...new Set([...directories.known(), ...cgroups.known()])],
  }
}

/** @throws Error for a variable that is not there or empty, or a path that leads elsewhere */
function expandedPath(expression: string, envs: Readonly<Record<string, string>>): string {
  const missing: string[] = []
  const path = expanded(expression, (name) => {
    if (Object.hasOwn(envs, name) && envs[name] !== '') return envs[name]
    missing.push(name)
    return undefined
  })
  if (missing.length > 0) throw new Error(`missing value for ${missing.join(', ')}`)
  if (path.startsWith('/')) throw new Error(`error SubPath \`${path}\` must not be an absolute path`)
  if (path.split('/').includes('..')) throw new Error(`unable to provision SubPath \`${path}\`: must not contain '..'`)
  return path
}

function propagationOf(propagation: string | undefined): NonNullable<Mount['propagation']> {
  switch (propagation) {
    case 'HostToContainer':
      return 'PROPAGATION_HOST_TO_CONTAINER'
    case 'Bidirectional':
      return 'PROPAGATION_BIDIRECTIONAL'
    default:
      return 'PROPAGATION_PRIVATE'
  }
}

function portMappings(pod: Pod): RealSandboxConfig['portMappings'] {
  if (specOf(pod).hostNetwork === true) return []
  return [...initContainersOf(pod), ...specOf(pod).containers].flatMap(({ ports = [] }) =>
    ports
      .filter(({ hostPort = 0 }) => hostPort > 0)
      .map(({ protocol = 'TCP', containerPort, hostPort = 0, hostIP = '' }) => ({
        protocol: protocol as 'TCP' | 'UDP' | 'SCTP',
        container_port: containerPort,
        host_port: hostPort,
        host_ip: hostIP,
      })),
  )
}

export interface MachineIds {
  readonly machineId: string
  readonly bootId: string
}

/** What identifies this machine and its boot, as its own files say. */
export function machineIds(): MachineIds {
  const read = (file: string) => {
    try {
      return readFileSync(file, 'utf8').trim()
    } catch {
      return ''
    }
  }
  return { machineId: read('/etc/machine-id'), bootId: read('/proc/sys/kernel/random/boot_id') }
}

const mountOfPlugin = (mount: ContainerAllocation['mounts'][number]): Mount => ({
  volume: '',
  containerPath: mount.container_path,
  hostPath: mount.host_path,
  readOnly: mount.read_only,
})
