/** skiff join: this machine becomes a node of a cluster, by a bootstrap token (API concept: TLS bootstrapping). */
import { existsSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join as pathOf } from 'node:path'
import type { Node } from '../api/generated/types.ts'
import { isForbidden, isNotFound, isUnauthorized } from '../api/status.ts'
import { holdProcess, liveClock } from '../base/live-clock.ts'
import { liveRuntime } from '../base/live-runtime.ts'
import { httpsTransport } from '../client/https-transport.ts'
import { createClient } from '../client/transport.ts'
import { clusterDirectory, hold } from '../cluster/directory.ts'
import { StartError } from '../cluster/errors.ts'
import { type BootstrapToken, readToken, tokenText } from '../cluster/join/bootstrap-token.ts'
import { type Discovered, discoverCluster, readHash } from '../cluster/join/discovery.ts'
import { write } from '../cluster/pki.ts'
import { runComponentCommand } from '../components/commands.ts'
import { certificateFile, nodeOfCertificate, usableUntil } from '../components/kubelet-certificate.ts'

export interface JoinOptions {
  readonly dataDir: string
  readonly token?: string
  readonly discoveryTokenCaCertHash?: string
  readonly nodeName?: string
  readonly nodeIp?: string
  readonly maxPods?: number
  readonly healthzPort?: number
  readonly rotateServerCertificates?: boolean
  readonly verbosity: number
}

/** Runs until a signal. A directory that has joined before goes on without a token, as long as its certificate lasts. */
export async function joinCluster(server: string | undefined, options: JoinOptions): Promise<void> {
  const directory = clusterDirectory(options.dataDir)
  const before = nodeOfCertificate(certificateFile(directory.pki))
  const nodeName = (options.nodeName ?? before ?? hostname()).trim().toLowerCase()
  if (existsSync(directory.store))
    throw new StartError(`${directory.path} holds a cluster: give the node a --data-dir of its own`)
  const file = (name: string) => pathOf(directory.path, name)
  const [kubeconfig, bootstrap] = [file('kubelet.conf'), file('bootstrap-kubelet.conf')]
  const hasJoined =
    existsSync(kubeconfig) && usableUntil(certificateFile(directory.pki), nodeName, liveClock()) !== undefined
  if (!hasJoined && server === undefined && before !== undefined && before !== nodeName)
    throw new StartError(
      `${directory.path} is of the node ${before}: leave --node-name out, or give ${nodeName} a --data-dir of its own`,
    )
  const found = hasJoined ? undefined : await meet(server, options, nodeName)
  const release = hold(directory, 'a node')
  process.on('exit', () => {
    // Whatever comes of it: the next join is given a token again. The directory is held until it is gone.
    if (found !== undefined) rmSync(bootstrap, { force: true })
    release()
  })
  if (found !== undefined) write(bootstrap, bootstrapKubeconfig(found.cluster, found.token), 0o600)
  await runComponentCommand('kubelet', [
    ...['--kubeconfig', kubeconfig, '--cert-dir', directory.pki, '--rotate-certificates'],
    ...(found === undefined ? [] : ['--bootstrap-kubeconfig', bootstrap]),
    ...(options.rotateServerCertificates === true ? ['--rotate-server-certificates'] : []),
    ...['--hostname-override', nodeName, '--v', String(options.verbosity)],
    ...(options.nodeIp === undefined ? [] : ['--node-ip', options.nodeIp]),
    ...(options.maxPods === undefined ? [] : ['--max-pods', String(options.maxPods)]),
    ...(options.healthzPort === undefined ? [] : ['--healthz-port', String(options.healthzPort)]),
  ])
  // The node has a certificate now: the token is of no use to it any more.
  rmSync(bootstrap, { force: true })
}

/** @throws StartError when something is missing or not to be trusted, or a node of that name is there */
async function meet(
  server: string | undefined,
  { token: text, discoveryTokenCaCertHash: hash }: JoinOptions,
  nodeName: string,
): Promise<{ readonly cluster: Discovered; readonly token: BootstrapToken }> {
  if (server === undefined || text === undefined || hash === undefined)
    throw new StartError(
      'join needs the server, --token and --discovery-token-ca-cert-hash: skiff token create prints the whole command on the machine of the cluster',
    )
  const token = readToken(text)
  const [at, wanted] = [urlOf(server), readHash(hash)]
  // No timer of ours keeps a process alive.
  const release = holdProcess()
  try {
    const cluster = await discoverCluster(liveClock(), at, token, wanted)
    await refuseTaken(cluster, token, nodeName)
    return { cluster, token }
  } finally {
    release()
  }
}

/** `host:port` or a URL. @throws StartError */
function urlOf(server: string): string {
  const url = server.includes('://') ? server : `https://${server}`
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:' || new URL(url).pathname !== '/')
    throw new StartError(`${server} is no server: write https://host:port`)
  return url.replace(/\/$/, '')
}

/** A token may name any node: the pods and Secrets of one that lives must not become another machine's by mistake. */
async function refuseTaken({ server, ca }: Discovered, token: BootstrapToken, nodeName: string): Promise<void> {
  const transport = httpsTransport({ server, ca, token: tokenText(token) })
  try {
    const nodes = createClient(liveRuntime(), transport, { userAgent: 'skiff' }).resource<Node>({
      group: '',
      version: 'v1',
      resource: 'nodes',
    })
    const { status } = await nodes.get(nodeName)
    if (status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true)
      throw new StartError(`a node ${nodeName} is there and ready: give this one another --node-name`)
  } catch (error) {
    if (isNotFound(error)) return
    const made = 'make one by skiff token create'
    if (isUnauthorized(error))
      throw new StartError(
        `${server} lets nobody in by the token ${token.id}: it may have been deleted, or is not for this; ${made}`,
      )
    if (isForbidden(error)) throw new StartError(`the token ${token.id} gives no right to join ${server}: ${made}`)
    throw error
  } finally {
    transport.close()
  }
}

/** JSON is YAML. */
function bootstrapKubeconfig({ server, ca }: Discovered, token: BootstrapToken): string {
  const cluster = { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') }
  return `${JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'cluster', cluster }],
    users: [{ name: 'bootstrap', user: { token: tokenText(token) } }],
    contexts: [{ name: 'bootstrap', context: { cluster: 'cluster', user: 'bootstrap' } }],
    'current-context': 'bootstrap',
  })}\n`
}
