/**
 * Address repair (KEP-1880): every cluster IP of a Service has an IPAddress object that names the Service, and those of
 * Services that are gone go too. The allocator itself looks at Services alone; these objects are for users and other tools.
 */
import type { KubeObject } from '../../api/object.ts'
import type { ApiRequest, Handler, UserInfo } from '../../api/request.ts'
import { isAlreadyExists, isNotFound } from '../../api/status.ts'
import type { Timer } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { CacheReads } from '../admission/plugin.ts'

const PATH = '/apis/networking.k8s.io/v1/ipaddresses'
const MANAGED_BY = 'ipaddress.kubernetes.io/managed-by'
const ALLOCATOR = 'ipallocator.k8s.io'
const SETTLE_MS = 20
const RETRY_MS = 5_000
const user: UserInfo = { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] }

export interface IpAddressLoopOptions {
  readonly runtime: Runtime
  readonly handler: Handler
  readonly reads: CacheReads
  /** Tells of every change to Services and IPAddresses; returns the way to end it. */
  readonly onChange: (listener: () => void) => () => void
  readonly signal: AbortSignal
}

export function startIpAddressLoop(options: IpAddressLoopOptions): void {
  const { runtime, signal } = options
  let timer: Timer | undefined
  let running = false
  let again = false

  const schedule = (ms: number) => {
    timer ??= runtime.clock.setTimer(ms, 'ip addresses', run)
  }
  const run = () => {
    timer = undefined
    if (signal.aborted) return
    if (running) {
      again = true
      return
    }
    running = true
    repair(options)
      .catch((error) => {
        if (signal.aborted) return
        runtime.log.error('IPAddresses were not brought up to date', error)
        schedule(RETRY_MS)
      })
      .finally(() => {
        running = false
        if (again && !signal.aborted) schedule(SETTLE_MS)
        again = false
      })
  }
  const unsubscribe = options.onChange(() => schedule(SETTLE_MS))
  signal.addEventListener(
    'abort',
    () => {
      timer?.cancel()
      unsubscribe()
    },
    { once: true },
  )
  schedule(0)
}

async function repair({ reads, handler, signal }: IpAddressLoopOptions): Promise<void> {
  const wanted = new Map<string, KubeObject>()
  for (const service of reads.list('', 'services'))
    for (const ip of (service['spec']?.clusterIPs ?? []) as readonly string[])
      if (ip !== 'None' && ip !== '') wanted.set(ip, service)
  const present = reads.list('networking.k8s.io', 'ipaddresses')
  const send = (method: string, path: string, object?: KubeObject) => {
    const request: ApiRequest = {
      method,
      path,
      query: new URLSearchParams(),
      headers: { 'user-agent': 'kube-apiserver' },
      ...(object === undefined ? {} : { body: { kind: 'object', object } }),
      user,
      signal,
    }
    return handler(request)
  }
  for (const address of present) {
    const name = address.metadata.name ?? ''
    const service = wanted.get(name)
    if (service !== undefined && isParent(address, service)) wanted.delete(name)
    else if (address.metadata.labels?.[MANAGED_BY] === ALLOCATOR)
      await send('DELETE', `${PATH}/${name}`).catch((error) => {
        if (!isNotFound(error)) throw error
      })
  }
  for (const [ip, service] of wanted)
    await send('POST', PATH, addressOf(ip, service)).catch((error) => {
      if (!isAlreadyExists(error)) throw error
    })
}

function isParent(address: KubeObject, service: KubeObject): boolean {
  const ref = address['spec']?.parentRef
  return (
    ref?.resource === 'services' && ref.namespace === service.metadata.namespace && ref.name === service.metadata.name
  )
}

function addressOf(ip: string, service: KubeObject): KubeObject {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IPAddress',
    metadata: {
      name: ip,
      labels: { 'ipaddress.kubernetes.io/ip-family': ip.includes(':') ? 'IPv6' : 'IPv4', [MANAGED_BY]: ALLOCATOR },
    },
    spec: {
      parentRef: { resource: 'services', namespace: service.metadata.namespace, name: service.metadata.name },
    },
  }
}
