/** What is told of a pod's volumes: kinds that are going, and files that hide each other. */
import type { Volume, VolumeProjection } from '../generated/types.ts'
import type { Fields } from '../object.ts'
import { isWholeInThousandths } from '../values/quantity.ts'
import { fractional, isBytes, OLD_VOLUMES } from './warnings.ts'

/** A path in a volume, and which source puts it there; '' where there is but one. */
interface Placed {
  readonly path: string
  readonly by: string
}

export function volumeWarnings(spec: Fields, path: string): string[] {
  const volumes: readonly Volume[] = spec['volumes'] ?? []
  return [
    ...volumes.flatMap((volume, i) => kindWarnings(volume, `${path}.volumes[${i}]`)),
    ...volumes.flatMap(overlaps),
  ]
}

function kindWarnings(volume: Volume, path: string): string[] {
  const warnings: string[] = []
  for (const kind of Object.keys(OLD_VOLUMES))
    if ((volume as Fields)[kind])
      warnings.push(`${path}.${kind === 'storageos' ? 'storageOS' : kind}: ${OLD_VOLUMES[kind]}`)
  const requests: Readonly<Record<string, string>> =
    volume.ephemeral?.volumeClaimTemplate?.spec?.resources?.requests ?? {}
  for (const [name, text] of Object.entries(requests))
    if (isBytes(name) && !isWholeInThousandths(text))
      warnings.push(fractional(`${path}.ephemeral.volumeClaimTemplate.spec.resources.requests[${name}]`, text))
  return warnings
}

function overlaps(volume: Volume): string[] {
  const of = (kind: string, name?: string) =>
    `volume ${quoted(volume.name)} (${kind}${name === undefined ? '' : ` ${quoted(name)}`})`
  const { secret, configMap, downwardAPI, projected } = volume
  if (secret) return overlapping(itemsOf(secret), of('Secret', secret.secretName))
  if (configMap) return overlapping(itemsOf(configMap), of('ConfigMap', configMap.name))
  if (downwardAPI) return overlapping(itemsOf(downwardAPI), of('DownwardAPI'))
  const sources: readonly VolumeProjection[] = projected?.sources ?? []
  const warnings = overlapping(sources.flatMap(projectedPaths), of('Projected'))
  if (sources.some((source) => Object.keys(source).length === 0))
    warnings.push(`${of('Projected')} has no sources provided`)
  return warnings
}

const quoted = (text: string | undefined): string => JSON.stringify(text ?? '')

const itemsOf = (source: Fields, by = ''): Placed[] =>
  (source['items'] ?? []).map((item: Fields): Placed => ({ path: cleaned(item['path'] ?? ''), by }))

const cleaned = (path: string): string => path.replace(/\/+/g, '/').replace(/(.)\/$/, '$1')

function projectedPaths(source: Fields): readonly Placed[] {
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source
  if (secret) return itemsOf(secret, `Secret ${quoted(secret.name)}`)
  if (configMap) return itemsOf(configMap, `ConfigMap ${quoted(configMap.name)}`)
  if (downwardAPI) return itemsOf(downwardAPI, 'DownwardAPI')
  const one = (path: string | undefined, by: string): readonly Placed[] => (path ? [{ path: cleaned(path), by }] : [])
  if (serviceAccountToken) return one(serviceAccountToken.path, 'ServiceAccountToken')
  if (clusterTrustBundle)
    return one(
      clusterTrustBundle.path,
      `ClusterTrustBundle ${quoted(clusterTrustBundle.name ?? clusterTrustBundle.signerName)}`,
    )
  if (!podCertificate) return []
  return [
    ...one(podCertificate.certificateChainPath, 'PodCertificate chain'),
    ...one(podCertificate.keyPath, 'PodCertificate key'),
    ...one(podCertificate.credentialBundlePath, 'PodCertificate credential bundle'),
  ]
}

/** Warnings are advice: of more than these only the first are looked at, for the work grows with the square. */
const MOST_COMPARED = 200

/** Paths of which one is the other, or a directory above it: each is compared with those before it. */
function overlapping(all: readonly Placed[], volume: string): string[] {
  const placed = all.slice(0, MOST_COMPARED)
  const shown = ({ path, by }: Placed) => (by === '' ? quoted(path) : `${quoted(path)} (${by})`)
  return placed.flatMap((later, i) =>
    placed
      .slice(0, i)
      .filter(({ path }) => isWithin(later.path, path) || isWithin(path, later.path))
      .map((earlier) => `${volume}: overlapping paths: ${shown(later)} with ${shown(earlier)}`),
  )
}

const isWithin = (path: string, directory: string): boolean => path === directory || path.startsWith(`${directory}/`)
