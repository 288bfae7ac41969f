/** What a kubelet of a real node was set to, in the words of KubeletConfiguration (kubelet.config.k8s.io/v1beta1): what /configz tells. */
import type { EvictionFlags } from '../eviction/thresholds.ts'
import { type ImageGcPolicy, imageGcPolicy } from '../images/image-gc.ts'
import type { PullVerification } from '../images/pull-verification.ts'
import type { LogRotation } from '../logs/rotate-log.ts'

export interface ConfiguredNode {
  readonly address: string
  readonly port: number
  readonly endpoint: string
  readonly cgroupDriver: string
  readonly dnsServers: readonly string[]
  readonly podCIDRs: readonly string[]
  readonly eviction: EvictionFlags | undefined
  readonly imageGc: Partial<ImageGcPolicy> | undefined
  readonly pullVerification: PullVerification
  readonly maxPods: number
  readonly logs: LogRotation
  readonly clusterDomain: string
}

const seconds = (ms: number) => `${Math.round(ms / 1000)}s`

/** `a<b,c<d` as an object. */
const pairsOf = (text: string, sign: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text
      .split(',')
      .filter((pair) => pair.includes(sign))
      .map((pair) => pair.split(sign, 2).map((part) => part.trim())),
  )

export function kubeletConfiguration(node: ConfiguredNode, defaultEvictionHard: string): object {
  const { eviction = {}, imageGc } = node
  const gc = imageGcPolicy(imageGc)
  return {
    kind: 'KubeletConfiguration',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    address: node.address,
    port: node.port,
    containerRuntimeEndpoint: node.endpoint,
    cgroupDriver: node.cgroupDriver,
    clusterDomain: node.clusterDomain,
    clusterDNS: [...node.dnsServers],
    ...(node.podCIDRs.length === 0 ? {} : { podCIDR: node.podCIDRs.join() }),
    maxPods: node.maxPods,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true } },
    authorization: { mode: 'Webhook' },
    containerLogMaxSize: `${node.logs.largest / 1024 / 1024}Mi`,
    containerLogMaxFiles: node.logs.mostFiles,
    evictionHard: pairsOf(eviction.evictionHard ?? defaultEvictionHard, '<'),
    ...(eviction.evictionSoft === undefined ? {} : { evictionSoft: pairsOf(eviction.evictionSoft, '<') }),
    imageGCHighThresholdPercent: gc.imageGCHighThresholdPercent,
    imageGCLowThresholdPercent: gc.imageGCLowThresholdPercent,
    imageMinimumGCAge: seconds(gc.imageMinimumGCAgeMs),
    imageMaximumGCAge: seconds(gc.imageMaximumGCAgeMs),
    imagePullCredentialsVerificationPolicy: node.pullVerification.policy,
  }
}
