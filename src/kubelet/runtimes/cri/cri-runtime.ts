/**
 * The runtime of a node that runs real containers: what the kubelet asks is asked of containerd or CRI-O by the Container Runtime
 * Interface (v1). Only sandboxes and containers with this node's own labels are seen or touched. The statuses of containers are read when
 * their state has changed, and kept.
 */
import { familyOf, type IPFamily, otherFamily } from '../../../api/values/ip.ts'
import { messageOf } from '../../../base/errors.ts'
import type { Runtime } from '../../../base/runtime.ts'
import { taggedName } from '../image-names.ts'
import {
  CONTAINER_NAME_LABEL,
  type ContainerConfig,
  type ContainerRuntime,
  type ContainerState,
  type ContainerUsage,
  type ListFilter,
  POD_NAME_LABEL,
  POD_NAMESPACE_LABEL,
  POD_UID_LABEL,
  type PodSandboxConfig,
  type PodSandboxStatus,
  type RegistryCredentials,
  type RuntimeContainerStatus,
  RuntimeError,
} from '../runtime.ts'
import { type Connection, codeOf, isRpcNotFound, type Message } from './connection.ts'
import type * as cri from './messages.ts'
import { probe } from './probe.ts'

/** By which a cluster's own sandboxes and containers are told from all others that the runtime has. */
export const CLUSTER_LABEL = 'skiff.dev/cluster'
export const NODE_LABEL = 'skiff.dev/node'

export interface CriRuntimeOptions {
  readonly connection: Connection
  readonly cluster: string
  readonly nodeName: string
  /** What a container that has ended left as its message; '' for none. */
  readonly terminationMessage: (status: cri.ContainerStatus) => Promise<string>
  /** Of the node's first address: a pod's address of that family is its first, whatever the runtime calls first. */
  readonly family: IPFamily
  /** Called when a sandbox has its network, before containers are made in it. */
  readonly sandboxMade?: () => Promise<void>
}

/** One of each family, `first` before the other, as a kubelet tells them. */
function podIPs(told: readonly string[], first: IPFamily): readonly string[] {
  const of = (family: IPFamily) => told.find((ip) => familyOf(ip) === family) ?? []
  return [of(first), of(otherFamily(first))].flat()
}

/** A pull may take as long as it makes progress; the runtime watches over that. */
const NO_LIMIT = 0
/** Of a stop, beyond the time that the container has. */
const STOP_MARGIN_MS = 120_000

export function createCriRuntime(runtime: Runtime, options: CriRuntimeOptions): ContainerRuntime {
  const { connection } = options
  const own = { [CLUSTER_LABEL]: options.cluster, [NODE_LABEL]: options.nodeName }
  const sandboxes = new Map<string, PodSandboxStatus>()
  const containers = new Map<string, RuntimeContainerStatus>()
  const call = connection.call
  const labelsOf = (filter: ListFilter) => ({ ...own, ...filter.labels })

  async function sandboxStatus(one: cri.PodSandbox): Promise<PodSandboxStatus | undefined> {
    const state = one.state === 'SANDBOX_READY' ? 'ready' : 'notReady'
    const known = sandboxes.get(one.id)
    if (known?.state === state) return known
    let ips: readonly string[] = []
    if (state === 'ready') {
      const found = await call<{ status: cri.PodSandboxStatus }>('PodSandboxStatus', { pod_sandbox_id: one.id }).catch(
        ignoreNotFound,
      )
      if (found === undefined) return undefined
      const { network } = found.status
      ips = podIPs([network?.ip ?? '', ...(network?.additional_ips ?? []).map(({ ip }) => ip)], options.family)
    }
    const { name, namespace, uid, attempt } = one.metadata
    const status: PodSandboxStatus = {
      id: one.id,
      metadata: { name, namespace, uid, attempt },
      state,
      createdAt: one.created_at / 1e6,
      ips,
    }
    sandboxes.set(one.id, status)
    return status
  }

  async function containerStatus(one: cri.Container): Promise<RuntimeContainerStatus | undefined> {
    const state = stateOf(one.state)
    const known = containers.get(one.id)
    if (known?.state === state) return known
    const found = await call<{ status: cri.ContainerStatus }>('ContainerStatus', { container_id: one.id }).catch(
      ignoreNotFound,
    )
    if (found === undefined) return undefined
    const { status } = found
    const exited = stateOf(status.state) === 'exited'
    const left = exited ? await options.terminationMessage(status) : ''
    const result: RuntimeContainerStatus = {
      id: status.id,
      podSandboxId: one.pod_sandbox_id,
      metadata: { name: status.metadata.name, attempt: status.metadata.attempt },
      state: stateOf(status.state),
      createdAt: status.created_at / 1e6,
      startedAt: status.started_at / 1e6,
      finishedAt: status.finished_at / 1e6,
      exitCode: status.exit_code,
      image: status.image?.image ?? '',
      imageId: status.image_ref,
      reason: status.reason,
      message: left === '' ? status.message : left,
      labels: status.labels,
      logPath: status.log_path,
      ...userOf(status.user),
    }
    containers.set(one.id, result)
    return result
  }

  async function stop(id: string, timeoutSeconds: number): Promise<void> {
    const timeout = Math.ceil(timeoutSeconds)
    const timeoutMs = timeout * 1000 + STOP_MARGIN_MS
    await call('StopContainer', { container_id: id, timeout }, { timeoutMs }).catch(ignoreNotFound).catch(inGrpcWords)
  }

  const runtimeOf = (config: ContainerConfig): NonNullable<ContainerConfig['real']> => {
    if (config.real === undefined) throw new RuntimeError('a real container needs its configuration')
    return config.real
  }

  return {
    async version() {
      const { runtime_name, runtime_version } = await call<{ runtime_name: string; runtime_version: string }>(
        'Version',
        {
          version: 'v1',
        },
      )
      return { runtimeName: runtime_name, runtimeVersion: runtime_version }
    },

    async runPodSandbox(config, signal) {
      const request = { config: sandboxRequest(config, own), runtime_handler: config.real?.runtimeHandler ?? '' }
      const { pod_sandbox_id } = await call<{ pod_sandbox_id: string }>('RunPodSandbox', request, {
        timeoutMs: 240_000,
        ...(signal === undefined ? {} : { signal }),
      }).catch((error: unknown) => {
        if (signal?.aborted === true) throw error
        return inGrpcWords(error)
      })
      if (!config.hostNetwork) await options.sandboxMade?.()
      return pod_sandbox_id
    },

    async stopPodSandbox(id) {
      await call('StopPodSandbox', { pod_sandbox_id: id }).catch(ignoreNotFound).catch(inGrpcWords)
    },

    async removePodSandbox(id) {
      await call('StopPodSandbox', { pod_sandbox_id: id }).catch(ignoreNotFound)
      await call('RemovePodSandbox', { pod_sandbox_id: id }).catch(ignoreNotFound)
    },

    async listPodSandboxes(filter) {
      const { items } = await call<{ items: readonly cri.PodSandbox[] }>('ListPodSandbox', {
        filter: { label_selector: labelsOf(filter) },
      })
      if (filter.labels === undefined) keepOnly(sandboxes, items)
      return (await Promise.all(items.map(sandboxStatus))).filter((one) => one !== undefined)
    },

    async createContainer(podSandboxId, config) {
      const real = runtimeOf(config)
      const { container_id } = await call<{ container_id: string }>('CreateContainer', {
        pod_sandbox_id: podSandboxId,
        config: containerRequest(config, real, own),
        sandbox_config: sandboxRequest(real.sandbox, own),
      })
      return container_id
    },

    async startContainer(id, signal) {
      await call('StartContainer', { container_id: id }, signal === undefined ? {} : { signal })
    },

    stopContainer: stop,

    async removeContainer(id) {
      await call('RemoveContainer', { container_id: id }).catch(ignoreNotFound)
    },

    async listContainers(filter) {
      const request = { filter: { label_selector: labelsOf(filter) } }
      const { containers: items } = await call<{ containers: readonly cri.Container[] }>('ListContainers', request)
      if (filter.labels === undefined) keepOnly(containers, items)
      return (await Promise.all(items.map(containerStatus))).filter((one) => one !== undefined)
    },

    probe: (containerId, action, signal) => probe({ runtime, connection }, containerId, action, signal),

    async imageStatus(image) {
      const found = await imageOf(image)
      return found === undefined ? undefined : { id: found.id, size: found.size }
    },

    async pullImage(image, _annotations, signal, credentials = []) {
      const failures: unknown[] = []
      // A pod that shows credentials is not served without any: a stale secret hides nothing, as with a kubelet.
      for (const tried of credentials.length === 0 ? [undefined] : credentials) {
        try {
          const { image_ref } = await call<{ image_ref: string }>(
            'PullImage',
            { image: { image: taggedName(image) }, ...(tried === undefined ? {} : { auth: authOf(tried) }) },
            { timeoutMs: NO_LIMIT, signal },
          )
          return { id: image_ref, ...(tried === undefined ? {} : { credentials: tried }) }
        } catch (error) {
          if (signal.aborted) throw error
          failures.push(error)
        }
      }
      const said = new Set(failures.map(messageOf))
      throw said.size === 1 ? failures[0] : new AggregateError(failures, `[${[...said].join(', ')}]`)
    },

    async listImages() {
      const { images } = await call<{ images: readonly cri.Image[] }>('ListImages', {})
      return images.map(({ id, repo_tags, repo_digests, size, pinned }) => ({
        id,
        names: [...repo_digests, ...repo_tags],
        size,
        ...(pinned ? { pinned } : {}),
      }))
    },

    real: {
      async session(request) {
        const { method, message } = sessionRequest(request)
        return (await call<{ url: string }>(method, message)).url
      },
      async run(containerId, cmd, signal) {
        type Said = { stdout: Buffer; stderr: Buffer; exit_code: number }
        const asked = call<Said>('ExecSync', { container_id: containerId, cmd }, { timeoutMs: RUN_MS, signal })
        const { stdout, stderr, exit_code: exitCode } = await asked.catch(inGrpcWords)
        return { stdout: stdout.toString(), stderr: stderr.toString(), exitCode }
      },
      async checkpoint(containerId, location, timeout) {
        await call('CheckpointContainer', { container_id: containerId, location, timeout }).catch(inGrpcWords)
      },
      async updateResources(containerId, resources) {
        await call('UpdateContainerResources', { container_id: containerId, linux: resources })
      },
      async usage() {
        const { stats } = await call<{ stats: readonly cri.ContainerStats[] }>('ListContainerStats', {
          filter: { label_selector: own },
        })
        // Of one that has ended there is nothing to tell.
        return stats.map(usageOf).filter(({ time }) => time > 0)
      },
      async reopenLog(containerId) {
        await call('ReopenContainerLog', { container_id: containerId })
      },
      async imageUser(image) {
        const found = await imageOf(image)
        if (found === undefined) return undefined
        if (found.username !== '') return { username: found.username }
        return found.uid === null ? {} : { uid: found.uid.value }
      },
      async setPodCIDR(cidr) {
        await call('UpdateRuntimeConfig', { runtime_config: { network_config: { pod_cidr: cidr } } })
      },
      async features() {
        const { runtime_handlers, features } = await call<cri.Status>('Status', {})
        return {
          handlers: runtime_handlers.map(({ name, features: own }) => ({
            name,
            recursiveReadOnlyMounts: own?.recursive_read_only_mounts === true,
            userNamespaces: own?.user_namespaces === true,
          })),
          supplementalGroupsPolicy: features?.supplemental_groups_policy === true,
        }
      },
      events: (listener, signal) =>
        connection.stream<cri.ContainerEventResponse>('GetContainerEvents', {}, signal, (event) => {
          const { pod_sandbox_status: sandbox, container_id: containerId, container_event_type: type } = event
          // What other users of the runtime do is not told: a sandbox that is gone may have been another client's.
          if (sandbox !== null && Object.entries(own).some(([key, value]) => sandbox.labels[key] !== value)) return
          listener({ type: EVENT_TYPES[type], podUid: sandbox?.metadata?.uid ?? '', containerId })
        }),
      async removeImage(id) {
        await call('RemoveImage', { image: { image: id } }).catch(ignoreNotFound)
      },
      async imagesInUse() {
        const { containers: all } = await call<{ containers: readonly cri.Container[] }>('ListContainers', {})
        return new Set(all.flatMap(({ image, image_ref }) => [image?.image ?? '', image_ref]))
      },
      async imageDirectory() {
        const { image_filesystems: found } = await call<cri.ImageFsInfo>('ImageFsInfo', {})
        return found.map(({ fs_id }) => fs_id?.mountpoint).find((path) => path !== undefined && path !== '')
      },
      async imageUse() {
        const { image_filesystems: found } = await call<cri.ImageFsInfo>('ImageFsInfo', {})
        const [first] = found
        if (first?.used_bytes == null) return undefined
        return { bytes: Number(first.used_bytes.value), inodes: Number(first.inodes_used?.value ?? 0) }
      },
    },
  }

  async function imageOf(image: string): Promise<cri.Image | undefined> {
    const found = await call<{ image: cri.Image | null }>('ImageStatus', { image: { image: taggedName(image) } })
    return found.image ?? undefined
  }
}

const EVENT_TYPES = {
  CONTAINER_CREATED_EVENT: 'created',
  CONTAINER_STARTED_EVENT: 'started',
  CONTAINER_STOPPED_EVENT: 'stopped',
  CONTAINER_DELETED_EVENT: 'deleted',
} as const

function userOf(user: cri.ContainerStatus['user'] | undefined): Pick<RuntimeContainerStatus, 'user'> {
  if (!user?.linux) return {}
  const { uid, gid, supplemental_groups: supplementalGroups } = user.linux
  return { user: { uid, gid, supplementalGroups } }
}

/** How long a command may take that the kubelet's server is asked to run. */
const RUN_MS = 120_000

function inGrpcWords(error: unknown): never {
  throw new Error(`rpc error: code = ${codeOf(error)} desc = ${messageOf(error)}`, { cause: error })
}

const ignoreNotFound = (error: unknown): undefined => {
  if (!isRpcNotFound(error)) throw error
  return undefined
}

function keepOnly(known: Map<string, unknown>, items: readonly { readonly id: string }[]): void {
  const there = new Set(items.map(({ id }) => id))
  for (const id of known.keys()) if (!there.has(id)) known.delete(id)
}

function stateOf(state: cri.ContainerState): ContainerState {
  switch (state) {
    case 'CONTAINER_CREATED':
      return 'created'
    case 'CONTAINER_RUNNING':
      return 'running'
    case 'CONTAINER_EXITED':
      return 'exited'
    default:
      return 'unknown'
  }
}

type Labels = Readonly<Record<string, string>>

export function sandboxRequest(config: PodSandboxConfig, own: Labels): Message {
  const { metadata, hostname, labels, annotations, real } = config
  return {
    metadata,
    hostname,
    // The kubelet's own labels are by which it finds them again: a pod's may not stand for them.
    labels: {
      ...labels,
      [POD_NAME_LABEL]: metadata.name,
      [POD_NAMESPACE_LABEL]: metadata.namespace,
      [POD_UID_LABEL]: metadata.uid,
      ...own,
    },
    annotations,
    ...(real === undefined
      ? {}
      : {
          log_directory: real.logDirectory,
          dns_config: real.dns,
          port_mappings: real.portMappings,
          linux: real.linux,
        }),
  }
}

export function containerRequest(
  config: ContainerConfig,
  real: NonNullable<ContainerConfig['real']>,
  own: Labels,
): Message {
  return {
    metadata: config.metadata,
    image: { image: taggedName(config.image), user_specified_image: config.image },
    command: config.command,
    args: config.args,
    working_dir: config.workingDir,
    envs: Object.entries(config.envs).map(([key, value]) => ({ key, value: Buffer.from(value) })),
    mounts: config.mounts.map((mount) => ({
      container_path: mount.containerPath,
      host_path: mount.hostPath ?? '',
      readonly: mount.readOnly,
      propagation: mount.propagation ?? 'PROPAGATION_PRIVATE',
      recursive_read_only: mount.recursiveReadOnly === true,
      ...(mount.image === undefined
        ? {}
        : {
            image: { image: mount.image.id, user_specified_image: mount.image.reference },
            image_sub_path: mount.image.subPath,
          }),
      ...(mount.users?.uids === undefined ? {} : { uidMappings: mount.users.uids, gidMappings: mount.users.gids }),
    })),
    devices: real.devices,
    CDI_devices: real.cdiDevices.map((name) => ({ name })),
    labels: { ...config.labels, ...own },
    annotations: config.annotations,
    log_path: real.logPath,
    stdin: real.stdin,
    stdin_once: real.stdinOnce,
    tty: real.tty,
    linux: real.linux,
    ...(real.stopSignal === undefined ? {} : { stop_signal: signalName(real.stopSignal) }),
  }
}

/** `SIGRTMIN+1` is `SIGNAL_SIGRTMINPLUS1` to CRI. */
const signalName = (signal: string) => `SIGNAL_${signal.replace('+', 'PLUS').replace('-', 'MINUS')}`

function sessionRequest(request: Parameters<NonNullable<ContainerRuntime['real']>['session']>[0]): {
  readonly method: string
  readonly message: Message
} {
  switch (request.kind) {
    case 'exec': {
      const { containerId: container_id, command: cmd, tty, stdin, stdout, stderr } = request
      return { method: 'Exec', message: { container_id, cmd, tty, stdin, stdout, stderr } }
    }
    case 'attach': {
      const { containerId: container_id, tty, stdin, stdout, stderr } = request
      return { method: 'Attach', message: { container_id, tty, stdin, stdout, stderr } }
    }
    default:
      return { method: 'PortForward', message: { pod_sandbox_id: request.podSandboxId, port: request.ports } }
  }
}

function usageOf({ attributes, cpu, memory, writable_layer }: cri.ContainerStats): ContainerUsage {
  const { labels } = attributes
  return {
    podUid: labels[POD_UID_LABEL] ?? '',
    podName: labels[POD_NAME_LABEL] ?? '',
    podNamespace: labels[POD_NAMESPACE_LABEL] ?? '',
    name: labels[CONTAINER_NAME_LABEL] ?? attributes.metadata.name,
    time: (cpu?.timestamp ?? memory?.timestamp ?? 0) / 1e6,
    cpuNanoCores: cpu?.usage_nano_cores?.value,
    cpuNanoSeconds: cpu?.usage_core_nano_seconds?.value ?? 0,
    workingSetBytes: memory?.working_set_bytes?.value ?? 0,
    usageBytes: memory?.usage_bytes?.value ?? 0,
    rssBytes: memory?.rss_bytes?.value ?? 0,
    rootfsBytes: writable_layer?.used_bytes?.value ?? 0,
    rootfsInodes: writable_layer?.inodes_used?.value ?? 0,
  }
}

const authOf = ({ username, password, auth }: RegistryCredentials) => ({
  username,
  password,
  ...(auth === undefined ? {} : { auth }),
})
