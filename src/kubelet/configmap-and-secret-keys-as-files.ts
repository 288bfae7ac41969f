/** The files of a volume that is made from objects: ConfigMaps, Secrets, fields of the pod, tokens, trust bundles. Pure functions. */
import type { ConfigMap, Secret } from '../api/generated/types.ts'

export interface VolumeFile {
  readonly bytes: Uint8Array
  /** Permission bits. */
  readonly mode: number
  readonly uid?: number
}

/** By path relative to the volume. */
export type VolumeFiles = Map<string, VolumeFile>

interface KeyToPath {
  readonly key: string
  readonly path: string
  readonly mode?: number
}

/** All keys under their own names, or the `items` alone, at their paths. What is not there is left out: it was looked at before. */
export function addKeys(
  files: VolumeFiles,
  object: ConfigMap | Secret | undefined,
  kind: 'configmap' | 'secret',
  items: readonly KeyToPath[] | undefined,
  mode: number,
): void {
  if (object === undefined) return
  const { data = {}, binaryData: binary = {} }: Pick<ConfigMap, 'data' | 'binaryData'> = object
  const bytesOf = (key: string): Uint8Array | undefined => {
    if (Object.hasOwn(data, key)) return Buffer.from(data[key]!, kind === 'secret' ? 'base64' : 'utf8')
    return Object.hasOwn(binary, key) ? Buffer.from(binary[key]!, 'base64') : undefined
  }
  const wanted = items ?? [...Object.keys(data), ...Object.keys(binary)].map((key) => ({ key, path: key }))
  for (const item of wanted) {
    const bytes = bytesOf(item.key)
    if (bytes !== undefined) files.set(item.path, { bytes, mode: ('mode' in item ? item.mode : undefined) ?? mode })
  }
}
