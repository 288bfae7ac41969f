/**
 * The way from this server to the kubelets of its nodes: where each one serves (its address and port, as its Node's status tells),
 * and this server's client certificate. Asked by the handlers of logs, exec, attach, port-forward and the node proxy only. Any kubelet that
 * speaks Kubernetes' kubelet API is reached so, this project's or another. The clients of what else is proxied (pods, services, ports
 * of nodes) are kept here too, apart: however many pods are asked, the kubelets' connections stay.
 */
import type { Node, NodeAddress } from '../../api/generated/types.ts'
import type { Handler } from '../../api/request.ts'
import { StatusError } from '../../api/status.ts'
import { createHttpsClient, type HttpsClient, type HttpsEndpoint, type HttpsRequest } from '../../http/client.ts'
import { createClientPool } from '../../http/client-pool.ts'
import { inProcessKubelet } from './in-process-kubelet.ts'

export interface KubeletClientOptions {
  /** PEM of the certificate by which kubelets know this server, and its key. */
  readonly client?: { readonly cert: string; readonly key: string }
  /** PEM of the authorities that kubelets' certificates must come from. Without it they are not verified. */
  readonly ca?: string
  /** The kubelets that run in this process, by the names of their nodes: they are asked without sockets. */
  readonly inProcess?: (nodeName: string) => Handler | undefined
  /**
   * Of the API server in whose process the simulated nodes run, where that is another one over the same store: its kubelets are asked through its
   * node proxy.
   */
  readonly peer?: () => HttpsEndpoint | undefined
  /** Types of node addresses, the preferred first. Default: addresses before names, as kubeadm sets it. */
  readonly addressTypes?: readonly string[]
}

export interface KubeletLocation {
  /** Without brackets. */
  readonly host: string
  readonly port: number
  /** `https://host:port` */
  readonly server: string
  readonly client: HttpsClient
}

export interface Kubelets {
  /** For what is reached through a proxy: connections kept for the next request. */
  clientOf(endpoint: HttpsEndpoint): HttpsClient
  /**
   * The kubelet of this node; `insecure` leaves its certificate unverified, where the request asks so, and `address` is connected
   * to instead of looking the node's own up again.
   * @throws StatusError 500 when the node's status tells no address of a preferred type
   */
  locate(node: Node, options?: { readonly insecure?: boolean; readonly address?: string }): KubeletLocation
  /**
   * Whether its kubelet answers: one of simulated containers only in this process, in that of a peer, or where its Node names a port.
   * `forwarded`: a peer asks, which is asked nothing in turn.
   */
  answers(node: Node, forwarded?: boolean): boolean
  /** The node's addresses, the preferred first. @throws as `locate` */
  addressesOf(node: Node): readonly string[]
  close(): void
}

/** A node's name need not be known to the machine that this server runs on; kube-apiserver's own default asks it first. */
export const ADDRESS_TYPES = ['InternalIP', 'ExternalIP', 'Hostname', 'InternalDNS', 'ExternalDNS'] as const
const DEFAULT_PORT = 10250
/** Servers whose connections are kept for the next request: kubelets, and proxied ones. */
const KEPT_KUBELETS = 512
const KEPT_PROXIED = 512

/** `create`: how the clients of all of them are made. */
export function createKubelets(options: KubeletClientOptions = {}, create = createHttpsClient): Kubelets {
  const { client, ca, addressTypes = ADDRESS_TYPES } = options
  const inProcess = (node: Node) => options.inProcess?.(node.metadata.name ?? '')
  const kubelets = createClientPool(KEPT_KUBELETS, create)
  const proxied = createClientPool(KEPT_PROXIED, create)
  const addressesOf = (node: Node) => preferredAddresses(node, addressTypes)
  const peerOf = (node: Node) =>
    isSimulatedNode(node) && declaredPort(node) === undefined ? options.peer?.() : undefined
  return {
    addressesOf,
    answers: (node, forwarded = false) =>
      inProcess(node) !== undefined ||
      !isSimulatedNode(node) ||
      declaredPort(node) !== undefined ||
      (!forwarded && peerOf(node) !== undefined),
    clientOf: proxied.clientOf,
    locate(node, { insecure = false, address } = {}) {
      const [named = ''] = addressesOf(node)
      const host = address ?? named
      const port = kubeletPort(node)
      const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`
      const own = inProcess(node)
      if (own !== undefined) return { host, port, server, client: inProcessKubelet(own) }
      const peer = peerOf(node)
      if (peer !== undefined)
        return { host, port, server, client: peerKubelet(kubelets.clientOf(peer), node.metadata.name ?? '') }
      return {
        host,
        port,
        server,
        client: kubelets.clientOf({
          server,
          ...(client ?? {}),
          ...(host === named ? {} : { serverName: named }),
          ...(ca === undefined || insecure ? { insecureSkipTlsVerify: true } : { ca }),
        }),
      }
    },
    close: () => {
      kubelets.close()
      proxied.close()
    },
  }
}

/** In the requests of one API server to the node proxy of another. */
export const FORWARDED = 'skiff-forwarded'

/** A kubelet behind the node proxy of another API server. The connections are of all such kubelets together. */
function peerKubelet(client: HttpsClient, nodeName: string): HttpsClient {
  const forwarded = (request: HttpsRequest): HttpsRequest => ({
    ...request,
    path: `/api/v1/nodes/${nodeName}/proxy${request.path}`,
    headers: { ...request.headers, [FORWARDED]: 'true' },
  })
  return {
    send: (request) => client.send(forwarded(request)),
    upgrade: (request) => client.upgrade(forwarded(request)),
    retire: () => client.retire(),
    get inUse() {
      return client.inUse
    },
    close: () => {},
  }
}

/** Whether the node's containers are simulated: what has its pods' addresses on a real network is something else. */
export const isSimulatedNode = (node: Node | undefined): boolean =>
  String(node?.status?.nodeInfo?.containerRuntimeVersion ?? '').startsWith('simulated://')

const declaredPort = (node: Node): number | undefined =>
  (node.status?.daemonEndpoints?.kubeletEndpoint?.Port as number | undefined) || undefined

export const kubeletPort = (node: Node): number => declaredPort(node) ?? DEFAULT_PORT

/** @throws StatusError 500 when there is none */
export function preferredAddresses(node: Node, types: readonly string[] = ADDRESS_TYPES): readonly string[] {
  const known: readonly NodeAddress[] = node.status?.addresses ?? []
  const preferred = types.flatMap((type) => known.filter((address) => address.type === type))
  if (preferred.length === 0)
    throw new StatusError(500, '', `no preferred addresses found; known addresses: [${known.join(' ')}]`)
  return preferred.map(({ address }) => address)
}

/** Of a node whose kubelet does not answer. */
export const unanswered = (node: Node): string =>
  `the kubelet of node ${node.metadata.name} answers nothing here: its containers are simulated by another process, and its Node names no port`
