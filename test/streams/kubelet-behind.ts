/** An API server with a pod on a node whose kubelet is the stand-in, and the real kubectl for it by each protocol. */
import { type StartedCluster, startSkiff } from '../../conformance/server.ts'
import { type Kubectl, kubectlFor } from '../kubectl.ts'
import { type StandIn, startKubeletStandIn } from './kubelet-stand-in.ts'

export const PROTOCOLS = ['websocket', 'spdy'] as const
export type Protocol = (typeof PROTOCOLS)[number]

export interface KubeletBehind {
  readonly cluster: StartedCluster
  readonly kubelet: StandIn
  readonly kubectls: Readonly<Record<Protocol, Kubectl>>
  stop(): Promise<void>
}

/** For kubectl's environment: which protocol it speaks. */
export const speaking = (protocol: Protocol): Record<string, string> => ({
  KUBECTL_REMOTE_COMMAND_WEBSOCKETS: String(protocol === 'websocket'),
  KUBECTL_PORT_FORWARD_WEBSOCKETS: String(protocol === 'websocket'),
})

/** Pods of the namespace default: `p` with container c, `two` with a and b, and `declared` on a node that declares that it speaks WebSockets. */
export async function startKubeletBehind(): Promise<KubeletBehind> {
  const kubelet = await startKubeletStandIn()
  const cluster = await startSkiff(['--components', 'apiserver', '--disable-admission-plugins', 'ServiceAccount'])
  const by = (protocol: Protocol) => kubectlFor(cluster.kubeconfig, 'default', speaking(protocol))
  const kubectls = { websocket: by('websocket'), spdy: by('spdy') }
  const stop = async () => {
    await cluster.stop()
    kubelet.close()
  }
  try {
    await makeObjects(kubectls.spdy, kubelet.port)
  } catch (error) {
    await stop()
    throw error
  }
  return { cluster, kubelet, kubectls, stop }
}

async function makeObjects(kubectl: Kubectl, port: number): Promise<void> {
  const node = (name: string) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } })
  await kubectl.send('create', node('real'), node('newer'))
  const setStatus = (kind: string, name: string, status: object) =>
    kubectl('patch', kind, name, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status }))
  const served = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  }
  await setStatus('node', 'real', served)
  await setStatus('node', 'newer', { ...served, declaredFeatures: ['ExtendWebSocketsToKubelet'] })
  const pod = (name: string, containers: readonly string[], nodeName = 'real') => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { nodeName, containers: containers.map((container) => ({ name: container, image: 'i' })) },
  })
  await kubectl.send('create', pod('p', ['c']), pod('two', ['a', 'b']), pod('declared', ['c'], 'newer'))
  const running = { phase: 'Running', podIP: '10.0.0.9', conditions: [{ type: 'Ready', status: 'True' }] }
  for (const name of ['p', 'two', 'declared']) await setStatus('pod', name, running)
}
