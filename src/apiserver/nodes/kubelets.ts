/**
 * The way from this server to the kubelets of its nodes: where each one serves (its address and port, as its Node's status tells),
 * and who this server is to it. Asked by the handlers of logs, exec, attach, port-forward and the node proxy only. Any kubelet that
 * speaks Kubernetes' kubelet API is reached so, this project's or another. The clients of what else is proxied (pods, services, ports
 * of nodes) are kept here too, apart: however many pods are asked, the kubelets' connections stay.
 */
import type { Fields, KubeObject } from '../../api/object.ts'
import { StatusError } from '../../api/status.ts'
import type { HttpsClient, HttpsEndpoint } from '../../http/client.ts'
import { createClientPool } from '../../http/client-pool.ts'

export interface KubeletOptions {
  /** PEM of the certificate by which kubelets know this server, and its key. */
  readonly client?: { readonly cert: string; readonly key: string }
  /** PEM of the authorities that kubelets' certificates must come from. Without it they are not verified. */
  readonly ca?: string
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
  locate(node: KubeObject, options?: { readonly insecure?: boolean; readonly address?: string }): KubeletLocation
  /** The node's addresses, the preferred first. @throws as `locate` */
  addressesOf(node: KubeObject): readonly string[]
  close(): void
}

/** A node's name need not be known to the machine that this server runs on; kube-apiserver's own default asks it first. */
export const ADDRESS_TYPES = ['InternalIP', 'ExternalIP', 'Hostname', 'InternalDNS', 'ExternalDNS'] as const
const DEFAULT_PORT = 10250
/** Servers whose connections are kept for the next request: kubelets, and proxied ones. */
const KEPT_KUBELETS = 512
const KEPT_PROXIED = 512

export function createKubelets(options: KubeletOptions = {}): Kubelets {
  const { client, ca, addressTypes = ADDRESS_TYPES } = options
  const kubelets = createClientPool(KEPT_KUBELETS)
  const proxied = createClientPool(KEPT_PROXIED)
  const addressesOf = (node: KubeObject) => preferredAddresses(node, addressTypes)
  return {
    addressesOf,
    clientOf: proxied.clientOf,
    locate(node, { insecure = false, address } = {}) {
      const [named = ''] = addressesOf(node)
      const host = address ?? named
      const port = kubeletPort(node)
      const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`
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

/**
 * Whether the node's kubelet runs containers in simulation: it serves nothing, and what has its pods' addresses on a real network is
 * something else.
 */
export const isSimulatedNode = (node: KubeObject | undefined): boolean =>
  String(node?.['status']?.nodeInfo?.containerRuntimeVersion ?? '').startsWith('simulated://')

export const kubeletPort = (node: KubeObject): number =>
  (node['status']?.daemonEndpoints?.kubeletEndpoint?.Port as number | undefined) || DEFAULT_PORT

/** @throws StatusError 500 when there is none */
export function preferredAddresses(node: KubeObject, types: readonly string[] = ADDRESS_TYPES): readonly string[] {
  const known: readonly Fields[] = node['status']?.addresses ?? []
  const preferred = types.flatMap((type) => known.filter((address) => address['type'] === type))
  if (preferred.length === 0)
    throw new StatusError(500, '', `no preferred addresses found; known addresses: [${known.join(' ')}]`)
  return preferred.map(({ address }) => address)
}
