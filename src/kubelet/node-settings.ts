/** What an administrator says of the kubelets of real nodes, named after the kubelet's settings; of static pods, simulated ones too. */
import type { EvictionFlags } from './eviction/thresholds.ts'
import type { ImageGcPolicy } from './images/image-gc.ts'
import type { ManifestUrl } from './static-pods/manifest-url.ts'

export interface NodeSettings {
  /** A folder of manifests, or one, that are run as static pods. Default: none. */
  readonly podManifestPath?: string
  /** Where further manifests are asked for. Default: nowhere. */
  readonly manifestUrl?: ManifestUrl
  /** When pods are evicted. Default: the kubelet's own thresholds. */
  readonly eviction?: EvictionFlags
  /** When images go that no container uses. What is not said is as with the kubelet. */
  readonly imageGc?: Partial<ImageGcPolicy>
}

/** Of options that hold more than that. */
export function nodeSettings({ podManifestPath, manifestUrl, eviction, imageGc }: NodeSettings): NodeSettings {
  return {
    ...(podManifestPath === undefined ? {} : { podManifestPath }),
    ...(manifestUrl === undefined ? {} : { manifestUrl }),
    ...(eviction === undefined ? {} : { eviction }),
    ...(imageGc === undefined ? {} : { imageGc }),
  }
}
