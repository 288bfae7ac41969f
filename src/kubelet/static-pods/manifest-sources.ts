/** Where a node has its static pods from. */
import type { Runtime } from '../../base/runtime.ts'
import type { NodeSettings } from '../node-settings.ts'
import { manifestFiles } from './manifest-files.ts'
import { manifestUrl } from './manifest-url.ts'
import type { StaticPodSource } from './static-pods.ts'

export interface ManifestPeriods {
  readonly fileMs?: number
  readonly urlMs?: number
}

export function manifestSources(
  runtime: Runtime,
  nodeName: string,
  { podManifestPath: path, manifestUrl: remote }: NodeSettings,
  { fileMs, urlMs }: ManifestPeriods = {},
): readonly StaticPodSource[] {
  const files = { runtime, nodeName, ...(fileMs === undefined ? {} : { everyMs: fileMs }) }
  const url = { runtime, nodeName, ...(urlMs === undefined ? {} : { everyMs: urlMs }) }
  return [
    ...(path === undefined ? [] : [manifestFiles({ ...files, path })]),
    ...(remote === undefined ? [] : [manifestUrl({ ...url, ...remote })]),
  ]
}
