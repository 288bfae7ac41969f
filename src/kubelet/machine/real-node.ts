/**
 * A real node, put together: the runtime behind CRI, this machine's files, groups and network, and a kubelet over them. Started by the
 * cluster. When the node is taken down nothing of it is left on the machine; when its process is killed the containers run on, and the next
 * start finds them.
 */
import { join } from 'node:path'
import type { RuntimeClass, Service } from '../../api/generated/types.ts'
import { isNotFound } from '../../api/status.ts'
import type { Runtime } from '../../base/runtime.ts'
import { stoppable } from '../../base/stoppable.ts'
import type { Client } from '../../client/client.ts'
import { createEventRecorder } from '../../client/events.ts'
import { createInformerFactory } from '../../client/informer.ts'
import { createPatientWrite } from '../checkpoint-file.ts'
import { reconcileCpus } from '../cpu-manager/reconcile-cpus.ts'
import { createCsiDrivers } from '../csi/csi-drivers.ts'
import { createCsiVolumes } from '../csi/csi-volumes.ts'
import { createDevicePlugins } from '../device-plugins/device-plugins.ts'
import { givenDevicesFile } from '../device-plugins/given-devices.ts'
import { createDraDrivers } from '../dra/dra-drivers.ts'
import { dynamicResources } from '../dra/dynamic-resources.ts'
import { createPreparedClaims } from '../dra/prepared-claims.ts'
import { DEFAULT_HARD, evictionConfig, ofHeldPods } from '../eviction/thresholds.ts'
import { createImageGc, imageGcPolicy } from '../images/image-gc.ts'
import { createPullRecords, recordsDirectory, takeOverRecords } from '../images/pull-records.ts'
import { DEFAULT_VERIFICATION } from '../images/pull-verification.ts'
import { type Kubelet, type KubeletOptions, startKubelet } from '../kubelet.ts'
import { USUAL_ROTATION } from '../logs/rotate-log.ts'
import { countedCgroups } from '../metrics/cgroup-metrics.ts'
import { createImageMetrics } from '../metrics/image-metrics.ts'
import { createNodeStartMetrics } from '../metrics/node-start-metrics.ts'
import { createNodeEvents } from '../node-events.ts'
import {
  type KubeletSettings,
  kubeletSettings,
  type NodeSettings,
  type RealKubeletSettings,
  serverSettings,
} from '../node-settings.ts'
import type { NodeDescription } from '../node-status.ts'
import { createPluginRegistry } from '../plugins/plugin-registry.ts'
import type { Container, Pod } from '../pod.ts'
import { exclusiveResources } from '../pod-resources/exclusive-resources.ts'
import { servePodResources } from '../pod-resources/pod-resources-service.ts'
import { servePods } from '../pods-api/pods-service.ts'
import type { ContainerRuntime, RealRuntime } from '../runtimes/runtime.ts'
import { cadvisorMetrics } from '../server/cadvisor.ts'
import { HEALTHZ, type HealthzAddress, serveHealthz } from '../server/own-health.ts'
import { type KubeletServerOptions, type ServerTls, serveReadOnly, startKubeletServer } from '../server/server.ts'
import { claimStats } from '../server/volume-stats.ts'
import { shutdownByLogind } from '../shutdown/by-logind.ts'
import { shutdownGroupsOf } from '../shutdown/shutdown-groups.ts'
import { type ManifestPeriods, manifestSources } from '../static-pods/manifest-sources.ts'
import { createResourceManagers, OWN_MANAGERS } from '../topology-manager/resource-managers.ts'
import { createCgroups } from './cgroups.ts'
import { connectRuntime } from './connect-runtime.ts'
import { machineMeasurements } from './eviction-measurements.ts'
import { kubeletConfiguration } from './kubelet-configuration.ts'
import { createMachine, type MachineIds, machineIds } from './machine.ts'
import { machineTopology } from './machine-topology.ts'
import { measuredDisks } from './measured-disks.ts'
import { measuredGroups } from './measured-groups.ts'
import { fileSystemAt } from './measurements.ts'
import { allocatableOf, holdAllPods, withheldOf } from './node-allocatable.ts'
import { makePrivateDirectories, podDirectories } from './pod-directories.ts'
import type { PreparedNode } from './prepare-node.ts'
import { capacityOf, measuredMachine, realMachine } from './real-machine.ts'
import { takeDownNode } from './take-down-node.ts'
import { createUserNamespaces } from './user-namespaces.ts'
import { createVolumeSizes } from './volume-sizes.ts'
import { createMachineVolumes } from './volume-writer.ts'
import { createWatchedRuntime } from './watch-runtime.ts'

export interface RealNodeOptions extends NodeSettings, KubeletSettings, RealKubeletSettings {
  /** What is told of by /configz beside what the node finds out itself. */
  readonly configuration?: object
  readonly runtime: Runtime
  readonly client: Client
  readonly signal: AbortSignal
  readonly prepared: PreparedNode
  /** The cluster's own name servers. Empty: pods have those of the machine. */
  readonly dnsServers: readonly string[]
  /** Default: what identifies this machine and its boot. */
  readonly ids?: MachineIds
  /** The kubelet's server's own certificate for these addresses and names, and the authority of its clients. */
  readonly certificate: (hosts: readonly string[]) => ServerTls
  /** Called once the server listens: what `show` is given is shown from then on, to new connections. */
  readonly keepCertificate?: (hosts: readonly string[], show: (tls: ServerTls) => void) => void
  /** Where the kubelet's server listens. Default: the node's own address, and the usual port or a free one. */
  readonly listen?: { readonly host: string; readonly port: number }
  /** Where it tells of its health by plain HTTP. Default: kubelet's own. */
  readonly healthz?: HealthzAddress
  /** Default: cluster.local. */
  readonly clusterDomain?: string
  /** The file by which logind is asked to wait for the pods' end. Default: a kubelet's own, which stays. */
  readonly logindOverride?: string
  /** How many pods the node takes. Default: 110. */
  readonly maxPods?: number
  /** How often manifests of static pods are looked at. */
  readonly manifestPeriods?: ManifestPeriods
}

export interface RealNode {
  readonly kubelet: Kubelet
  readonly containerRuntime: ContainerRuntime
  /** To be called once the signal is aborted: containers, mounts, groups, network and files go. */
  takeDown(): Promise<void>
  /** The same, but that containers run on, for a later start of the node. */
  leave(): Promise<void>
}

const SERVICES = { group: '', version: 'v1', resource: 'services' }
const RUNTIME_CLASSES = { group: 'node.k8s.io', version: 'v1', resource: 'runtimeclasses' }

/** Resolves once the node is Ready. @throws Error when the machine does not let it */
export async function startRealNode(options: RealNodeOptions): Promise<RealNode> {
  const { runtime, client, signal } = options
  const { found, directory, imagesDirectory, nodeName, cluster, network } = options.prepared
  const directories = podDirectories(directory, options.podLogsDir)
  const volumeSizes = createVolumeSizes(directories, runtime.clock)
  const starting = createNodeStartMetrics(runtime)
  const managerSettings = options.managers ?? OWN_MANAGERS
  await makePrivateDirectories(directories)
  const connected = await connectRuntime(runtime, options.prepared, signal)
  const { containerRuntime, pulled } = connected
  const pullVerification = options.pullVerification ?? DEFAULT_VERIFICATION
  takeOverRecords(directory, imagesDirectory)
  const imageCounts = runtime.metrics === undefined ? undefined : createImageMetrics(runtime.metrics)
  const pullRecords = createPullRecords(runtime, recordsDirectory(imagesDirectory), pullVerification, imageCounts)
  await pullRecords.recover(async (image) => (await containerRuntime.imageStatus(image, {}))?.id)
  const podCIDRs = network.flatMap(({ podCIDR }) => podCIDR ?? [])
  const watched = await createWatchedRuntime({ ...options, containerRuntime, nodeName })

  const services = createInformerFactory(runtime, client, signal)
  const known = services.informer<Service>(SERVICES)
  services.start()
  const capacity = {
    ...capacityOf(directory),
    ...(options.maxPods === undefined ? {} : { pods: String(options.maxPods) }),
  }
  const config = evictionConfig(options.eviction)
  const allocatable = allocatableOf(capacity, config, options.reserved)
  const cgroups = countedCgroups(runtime, createCgroups(cluster, found.cgroupDriver, undefined, options.limits))
  const drivers = createCsiDrivers({ runtime, client, nodeName })
  const draDrivers = createDraDrivers({ runtime, client, nodeName })
  const preparedClaims = createPreparedClaims(join(directory, 'prepared-claims.json'), draDrivers)
  const topology = machineTopology()
  const devicePlugins = createDevicePlugins(
    runtime,
    givenDevicesFile(join(directory, 'plugin-devices.json')),
    topology.numaNodes.map(({ id }) => id),
  )
  const withheld = withheldOf(capacity, allocatable)
  const patientWrite = createPatientWrite(runtime, signal)
  const managers = createResourceManagers(
    managerSettings,
    topology,
    withheld,
    directory,
    devicePlugins,
    patientWrite,
    runtime,
  )
  const plugins = createPluginRegistry(runtime, join(directory, 'plugins_registry'), {
    CSIPlugin: drivers,
    DRAPlugin: draDrivers,
    DevicePlugin: devicePlugins.handler,
  })
  const { logs = USUAL_ROTATION, clusterDomain = 'cluster.local' } = options
  let kubelet: Kubelet | undefined
  const csi = createCsiVolumes({
    client,
    nodeName,
    directories,
    drivers,
    async tellInUse() {
      if (kubelet === undefined) throw new Error('the node has not been registered yet')
      await kubelet.reportNode()
    },
  })
  const volumes = createMachineVolumes(directories, () => allocatable, runtime.clock, csi)
  const machine = createMachine({
    directories,
    cgroups,
    csi,
    volumes,
    devicePlugins,
    managers,
    preparedClaims,
    dns: {
      servers: options.dnsServers,
      domain: clusterDomain,
      hostFile: options.resolvConf,
    },
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    ...(options.swap === undefined ? {} : { swap: options.swap }),
    ...(options.seccompDefault === undefined ? {} : { seccompDefault: options.seccompDefault }),
    pullRecords,
    services: () => known.store.list(),
    allocatable: () => allocatable,
    userNamespaces: createUserNamespaces(runtime.random, directories),
    features: () => watched.features,
    async runtimeHandler(name) {
      try {
        const { handler } = await client.resource<RuntimeClass>(RUNTIME_CLASSES).get(name)
        return String(handler)
      } catch (error) {
        if (!isNotFound(error)) throw error
        throw new Error(`failed to get sandbox runtime: RuntimeClass "${name}" not found`, { cause: error })
      }
    },
  })
  const [{ nodeIP }] = network
  const nodeIPs = network.map((one) => one.nodeIP)
  const hosts = [...nodeIPs, nodeName]
  const tls = options.certificate(hosts)
  const groups = () =>
    measuredGroups({
      kubelet: () => kubelet,
      cgroups,
      usage: async () => (await containerRuntime.real?.usage()) ?? [],
      sandboxImage: found.sandboxImage ?? '',
    })
  const { real } = containerRuntime
  const serverOptions: KubeletServerOptions = {
    runtime,
    client,
    nodeName,
    ...(options.listen ?? { host: nodeIP }),
    tls,
    ...serverSettings(options),
    kubelet: () => kubelet,
    checkpoints: join(directory, 'checkpoints'),
    cgroupVersion: cgroups.version,
    volumes: () => claimStats(runtime.clock.now(), kubelet?.pods.list() ?? [], volumes.stats),
    configuration: () => ({
      ...options.configuration,
      ...kubeletConfiguration(
        {
          address: options.listen?.host ?? nodeIP,
          port: server.port,
          endpoint: found.endpoint,
          cgroupDriver: found.cgroupDriver,
          dnsServers: options.dnsServers,
          podCIDRs,
          eviction: options.eviction,
          imageGc: options.imageGc,
          pullVerification,
          maxPods: Number(capacity['pods'] ?? 0),
          logs,
          clusterDomain,
        },
        DEFAULT_HARD,
      ),
    }),
    ...(real === undefined
      ? {}
      : { real, disks: () => measuredDisks(directories, real, volumeSizes, kubelet?.pods.list() ?? []) }),
    groups,
    cadvisor: async () =>
      cadvisorMetrics(await groups(), measuredMachine(options.ids ?? machineIds(), topology), runtime.clock.now()),
  }
  const server = await startKubeletServer(serverOptions)
  const { port } = server
  const stopReadOnly = await serveReadOnly(serverOptions)
  const stopHealthz = serveHealthz(runtime, options.healthz ?? HEALTHZ, signal)
  options.keepCertificate?.(hosts, ({ clientCa, ...pair }) => server.setCertificate({ ...pair, clientCas: [clientCa] }))
  const ids = options.ids ?? machineIds()
  const describe = (): Partial<NodeDescription> => ({
    ...ids,
    capacity: { ...capacity, ...devicePlugins.amounts().capacity },
    allocatable: { ...allocatable, ...devicePlugins.amounts().allocatable },
    ...(podCIDRs.length === 0 ? {} : { podCIDRs }),
    real: {
      ...realMachine(ids),
      port,
      images: watched.images,
      problem: watched.problem,
      volumesInUse: csi.inUse(),
      ...(watched.features === undefined ? {} : { features: watched.features }),
    },
  })
  const recorder = createEventRecorder(runtime, client, { component: 'kubelet', host: nodeName })
  const events = createNodeEvents(recorder, nodeName)
  const fileSystemOfImages = async () => fileSystemAt((await containerRuntime.real?.imageDirectory()) ?? directory)
  const imageGc = createImageGc({
    runtime,
    images: {
      listImages: async () => (await containerRuntime.listImages?.()) ?? [],
      removeImage: async (id) => containerRuntime.real?.removeImage(id),
      imagesInUse: async () => (await containerRuntime.real?.imagesInUse()) ?? new Set(),
    },
    pulled,
    records: pullRecords,
    fileSystem: fileSystemOfImages,
    warn: events.warning,
    policy: imageGcPolicy(options.imageGc),
  })
  await servePods({ runtime, root: directory, pods: () => kubelet?.views, signal })
  events.normal('Starting', 'Starting kubelet.')
  if (cgroups.version === 1) events.warning('CgroupV1', CGROUP_V1)
  kubelet = await startKubelet({
    runtime: stoppable(runtime, signal),
    nodeEvents: events,
    client,
    nodeName,
    signal,
    capacity,
    nodeIPs,
    containerRuntime,
    machine,
    describe,
    allocatable,
    ...kubeletSettings(options),
    starting,
    ...shutdownByLogind(
      runtime,
      options.shutdownGroups ?? shutdownGroupsOf(options.shutdown ?? {}),
      join(directory, 'graceful_node_shutdown_state'),
      options.logindOverride,
    ),
    ...(containerRuntime.real === undefined ? {} : { eviction: evictionBy(containerRuntime.real) }),
    staticPods: manifestSources(runtime, nodeName, options, options.manifestPeriods),
  })
  const reserved = options.limits?.holdsAllPods === false ? [] : options.reserved
  holdAllPods({ runtime, signal, cgroups, capacity, reserved, events })
  watched.run(() => kubelet?.reportNode())
  if (managerSettings.cpu.policy !== 'none')
    reconcileCpus({
      runtime,
      cpus: managers.cpus,
      containers: containerRuntime,
      isKnown: (uid) => kubelet?.pods.get(uid) !== undefined,
      periodMs: managerSettings.cpu.reconcileMs,
      signal,
    })
  imageGc.run(signal)
  draDrivers.begin(signal)
  plugins.run(signal)
  await devicePlugins.run(join(directory, 'device-plugins'), signal)
  const resources = {
    activePods: kubelet.activePods,
    plugins: devicePlugins,
    exclusive: exclusiveResources(managers),
    claims: (pod: Pod, container: Container) => dynamicResources(preparedClaims, pod, container),
  }
  await servePodResources(runtime, directory, resources, signal)

  function evictionBy(real: RealRuntime): NonNullable<KubeletOptions['eviction']> {
    const pods = () => kubelet?.pods.list() ?? []
    const measurements = machineMeasurements({ real, directories, cgroups, pods, volumeSizes })
    const held = options.limits?.holdsAllPods === false ? config : ofHeldPods(config)
    return { config: held, measurements, deleteUnusedImages: imageGc.deleteUnused }
  }

  const leave = async () => {
    await Promise.all([stopHealthz(), stopReadOnly()])
    await server.stop(0)
    connected.close()
  }
  return {
    kubelet,
    containerRuntime,
    leave,
    async takeDown() {
      await leave()
      await takeDownNode(runtime, directory)
    },
  }
}

const CGROUP_V1 =
  'cgroup v1 detected. cgroup v1 support is deprecated and will be removed in a future release. Please migrate to cgroup v2. More information at https://git.k8s.io/enhancements/keps/sig-node/5573-remove-cgroup-v1'
