/** skiff kubelet: a node of any cluster, under kubelet's flags: of real containers with --container-runtime-endpoint, else a simulated one. */

import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { messageOf } from '../base/errors.ts'
import { stoppable } from '../base/stoppable.ts'
import { type KubeconfigText, kubeconfigText } from '../client/kubeconfig-text.ts'
import { readKubeconfig } from '../client/read-kubeconfig.ts'
import { createClient } from '../client/transport.ts'
import { write } from '../cluster/pki.ts'
import { simulationResources } from '../cluster/simulation.ts'
import { type Kubelet, startKubelet } from '../kubelet/kubelet.ts'
import type { NodeSettings } from '../kubelet/node-settings.ts'
import { besideCIDROf, nodeIPOf } from '../kubelet/pod-addresses.ts'
import type { SimulationResources } from '../kubelet/runtimes/simulated/simulated-answers.ts'
import { serveHealthz } from '../kubelet/server/own-health.ts'
import { shutdownByLogind } from '../kubelet/shutdown/by-logind.ts'
import { FILE_CHECK_MS } from '../kubelet/static-pods/manifest-files.ts'
import { manifestSources } from '../kubelet/static-pods/manifest-sources.ts'
import { checkManifestUrl, URL_CHECK_MS } from '../kubelet/static-pods/manifest-url.ts'
import { accessOf, limitedBy, untilAnswered } from './access.ts'
import { FlagError, type ReadFlags } from './flags.ts'
import { certificateFile, keepCertificate, obtainCertificate, usableUntil } from './kubelet-certificate.ts'
import { KUBELET_FLAGS } from './kubelet-configuration/settings.ts'
import { settledKubelet } from './kubelet-configuration/settle.ts'
import { describedKubelet } from './kubelet-configuration/told.ts'
import { type NodeToStart, startKubeletOfContainers } from './kubelet-of-containers.ts'
import { CERTIFICATES, healthzOf, serveKubelet } from './kubelet-server.ts'
import type { ComponentCommand, ComponentProcess } from './process.ts'

/** So many nodes have ranges of their own; of more, two may share one. */
const RANGES = 2048
/** For requests under way when it is asked to go. */
const STOP_MS = 1000
/** Of a simulated node. */
const MOST_PODS = 2000
const QPS = 50
const BURST = 100

export const kubelet: ComponentCommand = {
  name: 'kubelet',
  counterpart: 'kubelet',
  flags: KUBELET_FLAGS,
  settle: settledKubelet,
  introduction:
    'A node of any Kubernetes cluster, under the flags of kubelet. With --container-runtime-endpoint its pods are real containers; without, it is simulated.',
  start,
}

async function start(flags: ReadFlags, process: ComponentProcess): Promise<void> {
  const { runtime, onStop, say } = process
  const nodeName = (flags.text('hostname-override') ?? hostname()).trim().toLowerCase()
  const limits = { qps: flags.number('kube-api-qps') || QPS, burst: flags.number('kube-api-burst') || BURST }
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  onStop(() => stopping.abort())
  const certificates = flags.text('cert-dir') ?? CERTIFICATES
  if (flags.text('bootstrap-kubeconfig') !== undefined)
    await bootstrap(flags, process, nodeName, certificates, stopping.signal)
  const file = flags.text('kubeconfig')
  const kubeconfig = file === undefined ? undefined : kubeconfigText(file)
  const access = accessOf(runtime, kubeconfig)
  onStop(() => access.transport.close())
  const manifests = flags.text('pod-manifest-path')
  // Static pods run whether or not it answers.
  const settings = {
    ...(manifests === undefined ? {} : { podManifestPath: manifests }),
    ...manifestUrlOf(flags),
  }
  if (Object.keys(settings).length === 0) await untilAnswered(access, process, stopping.signal)
  const client = createClient(runtime, limitedBy(runtime, access.transport, limits), { userAgent: 'kubelet' })
  const manifestPeriods = {
    fileMs: flags.ms('file-check-frequency') || FILE_CHECK_MS,
    urlMs: flags.ms('http-check-frequency') || URL_CHECK_MS,
  }
  const node: NodeToStart = {
    ...{ client, nodeName, kubeconfig, server: access.server, settings, manifestPeriods },
    signal: stopping.signal,
  }
  if (flags.text('container-runtime-endpoint') === undefined) await startSimulated(flags, process, node)
  else await startKubeletOfContainers(flags, process, node)
  if (flags.bool('rotate-certificates') && existsSync(certificateFile(certificates)))
    void keepCertificate({
      runtime,
      client: createClient(runtime, access.transport, { userAgent: 'kubelet' }),
      purpose: 'client',
      nodeName,
      directory: certificates,
      signal: stopping.signal,
      complain: say,
    })
  say(`node ${nodeName} is ready`)
}

async function startSimulated(
  flags: ReadFlags,
  { runtime, onStop, say }: ComponentProcess,
  { client, nodeName, kubeconfig, server: apiServer, settings, manifestPeriods, signal }: NodeToStart,
): Promise<void> {
  const index = numberOf(nodeName)
  const maxPods = flags.number('max-pods') ?? MOST_PODS
  const podCIDRs = flags.text('pod-cidr')?.split(',') ?? [besideCIDROf(index)]
  const { stages, played, playStages } = await stagesOf(flags)
  const described = describedKubelet(flags)
  onStop(serveHealthz(runtime, healthzOf(flags), signal))
  let running: Kubelet | undefined
  const { address, server } = await serveKubelet(flags, {
    ...{ runtime, client, nodeName, kubeconfig, say, signal, server: apiServer, otherwise: nodeIPOf(index) },
    kubelet: () => running,
  })
  if (server !== undefined) onStop(() => server.stop(STOP_MS))
  running = await startKubelet({
    runtime: stoppable({ ...runtime, log: runtime.log.named('kubelet') }, signal),
    client,
    ...(server === undefined ? {} : { describe: () => ({ port: server.port }) }),
    resources: resourcesOf(flags),
    ...(played === undefined ? {} : { played }),
    isCounted: true,
    nodeName,
    nodeIPs: [address],
    ...described,
    ...shutdownByLogind(runtime, described.shutdownGroups),
    podCIDRs,
    capacity: { cpu: '32', 'ephemeral-storage': '1Ti', memory: '256Gi', pods: String(maxPods) },
    staticPods: manifestSources(runtime, nodeName, settings, manifestPeriods),
    signal,
  })
  await playStages?.({
    runtime: { ...runtime, log: runtime.log.named('stages') },
    client,
    clientAs: undefined,
    nodeName,
    stages,
    isSimulated: (name) => name === nodeName,
    podCIDROf: (name) => (name === nodeName ? podCIDRs[0] : undefined),
    signal,
  })
}

/** As node of a name it may see and change its own Node and pods alone. */
async function stagesOf(flags: ReadFlags) {
  const paths = flags.list('stages') ?? []
  if (paths.length === 0) return { stages: [] }
  const { simulationStages } = await import('../cluster/simulation.ts')
  const stages = await simulationStages({ stages: paths })
  const other = stages.find(({ kind, groupVersion }) => groupVersion !== 'v1' || (kind !== 'Pod' && kind !== 'Node'))
  if (other !== undefined)
    throw new FlagError(`--stages: ${other.name} is for ${other.kind}: a kubelet plays stages of pods and of its Node`)
  const { playedBy, playStages } = await import('../kubelet/stages/play-stages.ts')
  return { stages, played: playedBy(stages), playStages }
}

/** What simulated containers may use of this machine. */
function resourcesOf(flags: ReadFlags): SimulationResources {
  const directory = flags.text('sim-dir')
  try {
    return simulationResources({
      ...(directory === undefined ? {} : { directory }),
      forward: flags.list('sim-forward') ?? [],
    })
  } catch (cause) {
    throw new FlagError(messageOf(cause), { cause })
  }
}

function manifestUrlOf(flags: ReadFlags): Pick<NodeSettings, 'manifestUrl'> {
  const url = flags.text('manifest-url')
  if (url === undefined) return {}
  try {
    const manifestUrl = { url, headers: flags.list('manifest-url-header') ?? [] }
    checkManifestUrl(manifestUrl)
    return { manifestUrl }
  } catch (cause) {
    throw new FlagError(`--manifest-url: ${messageOf(cause)}`, { cause })
  }
}

/** Without a certificate of the node's own it is asked for with the bootstrap kubeconfig's credentials; --kubeconfig is then written. */
async function bootstrap(
  flags: ReadFlags,
  process: ComponentProcess,
  nodeName: string,
  directory: string,
  signal: AbortSignal,
): Promise<void> {
  const { runtime, say } = process
  const file = flags.text('bootstrap-kubeconfig') ?? ''
  const kubeconfig = flags.text('kubeconfig')
  if (kubeconfig === undefined) throw new FlagError('--bootstrap-kubeconfig needs --kubeconfig: where to write it')
  const certificate = certificateFile(directory)
  if (usableUntil(certificate, nodeName, runtime.clock) !== undefined && existsSync(kubeconfig)) return
  const credentials = kubeconfigText(file)
  const access = accessOf(runtime, credentials)
  try {
    await untilAnswered(access, process, signal)
    say(`asking for a certificate of node ${nodeName}`)
    const client = createClient(runtime, access.transport, { userAgent: 'kubelet' })
    const isAskedForOnce = !flags.bool('rotate-certificates')
    const wanted = { purpose: 'client', nodeName, directory, isAskedForOnce, isBootstrap: true } as const
    await obtainCertificate(runtime, client, wanted, signal)
  } finally {
    access.transport.close()
  }
  write(kubeconfig, nodeKubeconfig(credentials, certificate), 0o600)
}

/** The cluster of the bootstrap kubeconfig, and the certificate's file as the user. JSON is YAML. */
function nodeKubeconfig({ text, file }: KubeconfigText, certificate: string): string {
  const { server, ca } = readKubeconfig(text, file)
  const authority =
    ca === undefined
      ? {}
      : 'file' in ca
        ? { 'certificate-authority': ca.file }
        : { 'certificate-authority-data': Buffer.from(ca.text).toString('base64') }
  const cluster = {
    server: server.server,
    ...authority,
    ...(server.insecureSkipTlsVerify === true ? { 'insecure-skip-tls-verify': true } : {}),
    ...(server.serverName === undefined ? {} : { 'tls-server-name': server.serverName }),
    ...(server.proxy === undefined ? {} : { 'proxy-url': server.proxy }),
  }
  const path = resolve(certificate)
  return `${JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'cluster', cluster }],
    users: [{ name: 'node', user: { 'client-certificate': path, 'client-key': path } }],
    contexts: [{ name: 'node', context: { cluster: 'cluster', user: 'node' } }],
    'current-context': 'node',
  })}\n`
}

/** Nodes that do not know of each other choose their addresses by their names. */
const numberOf = (name: string): number => createHash('sha256').update(name).digest().readUInt32BE(0) % RANGES
