/** What a kubelet counts of images: whether they were there, how long pulls took by how large they are, and those that are volumes. */
import type { Metrics } from '../../base/metrics.ts'

export interface ImageMetrics {
  /** A container's image was looked for. Undefined: its policy does not ask that. */
  ensured(policy: string, isPresent: boolean | undefined, isPulled: boolean | undefined): void
  pulled(bytes: number, tookMs: number): void
  /** It was looked up whether a pod may use an image that is there without a pull. */
  verified(result: 'credentialPolicyAllowed' | 'credentialRecordFound' | 'mustAuthenticate'): void
  /** So many records of pulls are kept now. */
  recordsKept(pulled: number, intents: number): void
  /** An image that is a volume was asked for; then it is mounted, or is not. */
  volumeRequested(): void
  volumeMounted(isMounted: boolean): void
}

const PULL_SECONDS = [1, 5, 10, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600]
const [MB, GB] = [1024 ** 2, 1024 ** 3]
/** Above so many bytes an image is of this class. */
const SIZES = [
  [100 * GB, 'GT100GB'],
  [60 * GB, '60GB-100GB'],
  [40 * GB, '40GB-60GB'],
  [30 * GB, '30GB-40GB'],
  [20 * GB, '20GB-30GB'],
  [10 * GB, '10GB-20GB'],
  [5 * GB, '5GB-10GB'],
  [GB, '1GB-5GB'],
  [500 * MB, '500MB-1GB'],
  [100 * MB, '100MB-500MB'],
  [10 * MB, '10MB-100MB'],
  [0, '0-10MB'],
] as const

export function createImageMetrics(metrics: Metrics): ImageMetrics {
  const ensured = metrics.counter(
    'kubelet_image_manager_ensure_image_requests_total',
    'Images looked for, by the pull policy, whether they were there and whether they had to be pulled.',
    ['present_locally', 'pull_policy', 'pull_required'],
  )
  const pulls = metrics.histogram(
    'kubelet_image_pull_duration_seconds',
    'Seconds that pulls took, by how large the image is.',
    ['image_size_in_bytes'],
    PULL_SECONDS,
  )
  const checks = metrics.counter(
    'kubelet_imagemanager_image_mustpull_checks_total',
    'Images that are there and were looked for, by whether the pod may use them without a pull.',
    ['result'],
  )
  const ofRecords = (kind: string, help: string) => metrics.gauge(`kubelet_imagemanager_ondisk_${kind}`, help).child()
  const onDisk = ofRecords('pulledrecords', 'Records of pulled images that are kept.')
  const intents = ofRecords('pullintents', 'Pulls that are noted as under way.')
  const ofVolumes = (what: string, help: string) =>
    metrics.counter(`kubelet_image_volume_${what}_total`, `Images that are volumes: ${help}.`).child()
  const requested = ofVolumes('requested', 'asked for')
  const mounted = ofVolumes('mounted_succeed', 'mounted')
  const failed = ofVolumes('mounted_errors', 'not mounted')
  const known = (value: boolean | undefined) => (value === undefined ? 'unknown' : String(value))
  return {
    ensured: (policy, isPresent, isPulled) =>
      ensured.child(known(isPresent), policy.toLowerCase(), known(isPulled)).add(),
    pulled: (bytes, tookMs) => pulls.child(SIZES.find(([above]) => bytes > above)?.[1] ?? 'N/A').observe(tookMs / 1000),
    verified: (result) => checks.child(result).add(),
    recordsKept(pulled, pulling) {
      onDisk.set(pulled)
      intents.set(pulling)
    },
    volumeRequested: () => requested.add(),
    volumeMounted: (isMounted) => (isMounted ? mounted : failed).add(),
  }
}
