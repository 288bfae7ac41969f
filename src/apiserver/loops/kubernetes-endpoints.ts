/**
 * Where the Service `kubernetes` leads to: an Endpoints object and an EndpointSlice of that name in `default`, which this server writes
 * itself, and keeps as they should be. A server that pods cannot reach names nothing; what a server before it has left is taken away,
 * what others have written stays. Servers that share a store name all of them that live, by their leases.
 */
import type { KubeObject } from '../../api/object.ts'
import type { Handler } from '../../api/request.ts'
import { sameJson } from '../../api/same.ts'
import { isNotFound } from '../../api/status.ts'
import type { Runtime } from '../../base/runtime.ts'
import { loopbackOf } from '../loopback.ts'
import type { ServerLeases } from './server-leases.ts'
import { startSettlingLoop } from './settling.ts'

export interface KubernetesEndpoints {
  readonly runtime: Runtime
  readonly handler: Handler
  /** Addresses of one family at which pods reach this server. Empty: at none. */
  readonly addresses: readonly string[]
  readonly port: number
  /** Of a shared store. Otherwise this server is the only one. */
  readonly leases?: ServerLeases
  readonly signal: AbortSignal
}

const EVERY_MS = 10_000
const RETRY_MS = 1000
const NAME = 'kubernetes'
const OWN_MANAGER = 'kube-apiserver'
const ENDPOINTS = '/api/v1/namespaces/default/endpoints'
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'

/** Resolves once both say what they should; they are looked after from then on. @throws StatusError, StoreError of the first time */
export async function startKubernetesEndpoints(options: KubernetesEndpoints): Promise<void> {
  const { runtime, addresses, leases, signal } = options
  if (addresses.length === 0) return withoutThisServer(options)
  const work = async () => {
    for (const address of addresses) await leases?.renew(address)
    await write(options, leases === undefined ? addresses : await leases.addresses())
  }
  await work()
  const timing = { settleMs: 0, retryMs: RETRY_MS, everyMs: EVERY_MS }
  startSettlingLoop({ runtime, name: 'kubernetes endpoints', work, onChange: () => () => {}, signal, ...timing })
}

/** At the end of a server, after its signal. @throws StatusError, StoreError */
export async function stopKubernetesEndpoints(options: KubernetesEndpoints): Promise<void> {
  for (const address of options.addresses) await options.leases?.giveBack(address)
  await withoutThisServer(options)
}

async function withoutThisServer(options: KubernetesEndpoints): Promise<void> {
  const others = (await options.leases?.addresses()) ?? []
  if (others.length > 0) return write(options, others)
  await removeThoseOfServers(options.handler)
}

async function write({ handler, port }: KubernetesEndpoints, addresses: readonly string[]): Promise<void> {
  for (const [path, wanted] of objectsOf(addresses, port)) await settle(handler, path, wanted)
}

/** Those that an API server wrote. @throws StatusError */
async function removeThoseOfServers(handler: Handler): Promise<void> {
  const send = loopbackOf(handler)
  for (const path of [ENDPOINTS, SLICES]) {
    const found = await unlessGone(send('GET', `${path}/${NAME}`))
    const managers = found?.metadata.managedFields ?? []
    if (found === undefined || managers.some(({ manager }) => manager !== OWN_MANAGER)) continue
    await unlessGone(send('DELETE', `${path}/${NAME}`))
  }
}

async function settle(handler: Handler, path: string, wanted: KubeObject): Promise<void> {
  const send = loopbackOf(handler)
  const found = await unlessGone(send('GET', `${path}/${NAME}`))
  if (found === undefined) {
    await send('POST', path, wanted)
    return
  }
  const { apiVersion, kind, metadata, ...rest } = wanted
  const labels = { ...found.metadata.labels, ...metadata.labels }
  const isSame = Object.entries(rest).every(([field, value]) => sameJson(found[field], value))
  if (isSame && sameJson(labels, found.metadata.labels)) return
  await send('PUT', `${path}/${NAME}`, { ...found, ...rest, metadata: { ...found.metadata, labels } })
}

async function unlessGone(answer: Promise<KubeObject | undefined>): Promise<KubeObject | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

function objectsOf(addresses: readonly string[], port: number): readonly (readonly [string, KubeObject])[] {
  const ports = [{ name: 'https', port, protocol: 'TCP' }]
  const metadata = (label: string, value: string) => ({ name: NAME, namespace: 'default', labels: { [label]: value } })
  const endpoints = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: metadata('endpointslice.kubernetes.io/skip-mirror', 'true'),
    subsets: [{ addresses: addresses.map((ip) => ({ ip })), ports }],
  }
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: metadata('kubernetes.io/service-name', NAME),
    addressType: addresses[0]?.includes(':') ? 'IPv6' : 'IPv4',
    endpoints: addresses.map((ip) => ({ addresses: [ip], conditions: { ready: true } })),
    ports,
  }
  return [
    [ENDPOINTS, endpoints],
    [SLICES, slice],
  ]
}
