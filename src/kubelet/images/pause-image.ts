/** The image of sandboxes, made here: one layer with one program. */
import type { Architecture } from '../machine/pause-program.ts'
import { pauseProgram } from '../machine/pause-program.ts'
import { type ArchivedImage, assembled, digestOf } from './archive.ts'
import { writeTar } from './tar.ts'

/** Under the name by which the runtime will look for it. */
export function pauseImage(name: string, architecture: Architecture): ArchivedImage {
  const layer = writeTar([{ name: 'pause', bytes: pauseProgram(architecture), mode: 0o755 }])
  const config = Buffer.from(
    JSON.stringify({
      architecture,
      os: 'linux',
      config: { User: '65535:65535', Entrypoint: ['/pause'], WorkingDir: '/' },
      rootfs: { type: 'layers', diff_ids: [digestOf(layer)] },
    }),
  )
  const once = (bytes: Buffer) =>
    async function* () {
      yield bytes
    }
  return assembled(
    [name],
    config,
    [{ mediaType: 'application/vnd.docker.image.rootfs.diff.tar', digest: digestOf(layer), size: layer.length }],
    [
      { digest: digestOf(config), size: config.length, chunks: once(config) },
      { digest: digestOf(layer), size: layer.length, chunks: once(layer) },
    ],
  )
}
