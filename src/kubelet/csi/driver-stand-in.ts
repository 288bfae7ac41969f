/**
 * A CSI driver for tests: registers as one does, notes what it is asked, and publishes a folder of its own for each volume by a bind mount where
 * it may mount. As a program (`node driver-stand-in.ts NAME REGISTRY FOLDER`) it prints what it is asked, a line each.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type PluginAnswers, type Request, startPlugin } from '../plugins/plugin-stand-in.ts'

export interface DriverOptions {
  readonly name: string
  /** Where kubelets look for the sockets of plugins. */
  readonly registry: string
  /** Of its own socket, and what its volumes hold. */
  readonly folder: string
  readonly answers?: PluginAnswers
  readonly asked?: (method: string, request: Request) => void
  /** Binds what it publishes. */
  readonly mounts?: boolean
}

export async function startDriver(options: DriverOptions): Promise<{ stop(): void }> {
  const { name, registry, folder, answers = {}, mounts = false } = options
  const usual: PluginAnswers = {
    NodeGetInfo: () => ({
      node_id: 'id-of-node',
      max_volumes_per_node: 3,
      accessible_topology: { segments: { 'example.test/zone': 'z' } },
    }),
    NodeGetCapabilities: () => ({
      capabilities: ['STAGE_UNSTAGE_VOLUME', 'EXPAND_VOLUME'].map((type) => ({ rpc: { type } })),
    }),
    NodePublishVolume({ volume_id, target_path }) {
      const [source, target] = [join(folder, String(volume_id)), String(target_path)]
      mkdirSync(source, { recursive: true })
      mkdirSync(target, { recursive: true })
      if (mounts) execFileSync('mount', ['--bind', source, target])
      return {}
    },
    NodeUnpublishVolume({ target_path }) {
      if (mounts) execFileSync('umount', [String(target_path)])
      rmSync(String(target_path), { recursive: true, force: true })
      return {}
    },
  }
  return startPlugin({
    type: 'CSIPlugin',
    name,
    versions: ['1.0.0'],
    registry,
    folder,
    proto: 'csi',
    service: 'csi.v1.Node',
    answers: { ...usual, ...answers },
    asked: options.asked,
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , name = '', registry = '', folder = ''] = process.argv
  const asked = (method: string, request: Request) => console.log(JSON.stringify([method, request]))
  const { stop } = await startDriver({ name, registry, folder, asked, mounts: true })
  process.once('SIGTERM', () => {
    stop()
    process.exit(0)
  })
}
