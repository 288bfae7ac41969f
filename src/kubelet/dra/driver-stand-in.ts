/**
 * A DRA driver for tests: registers as one does, and prepares each claim by a device of the claim's own name, which sets a variable in containers that get it. As
 * a program (`node driver-stand-in.ts NAME REGISTRY FOLDER SPECS`) it writes specifications of the Container Device Interface into the last
 * folder and prints what it is asked, a line each.
 */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { asList, asObject, asText } from '../../api/unchecked.ts'
import { type PluginAnswers, type Request, startPlugin } from '../plugins/plugin-stand-in.ts'

export interface DraDriverOptions {
  readonly name: string
  readonly registry: string
  readonly folder: string
  /** Where the runtime finds specifications of devices; undefined: none are written. */
  readonly specs?: string
  readonly answers?: PluginAnswers
  readonly asked?: (method: string, request: Request) => void
  /** Default: the newest. */
  readonly version?: 'v1' | 'v1beta1'
}

interface Claim {
  readonly name: string
  readonly uid: string
}

function answersFor(request: Request, answer: (claim: Claim) => unknown) {
  const claims = asList(request['claims']).map((claim): Claim => {
    const { name, uid } = asObject(claim)
    return { name: asText(name), uid: asText(uid) }
  })
  return { claims: Object.fromEntries(claims.map((claim) => [claim.uid, answer(claim)])) }
}

export function startDraDriver(options: DraDriverOptions): Promise<{ stop(): void }> {
  const { name, specs, version = 'v1' } = options
  const file = ({ uid }: Claim) => join(specs ?? '', `${name}-${uid}.json`)
  const usual: PluginAnswers = {
    NodePrepareResources: (request) =>
      answersFor(request, (claim) => {
        if (specs !== undefined) {
          mkdirSync(specs, { recursive: true })
          const devices = [{ name: claim.name, containerEdits: { env: [`DEVICE_OF=${claim.name}`] } }]
          writeFileSync(file(claim), JSON.stringify({ cdiVersion: '0.5.0', kind: `${name}/claim`, devices }))
        }
        const ids = [`${name}/claim=${claim.name}`]
        return { devices: [{ request_names: [], pool_name: 'n', device_name: 'd', cdi_device_ids: ids }] }
      }),
    NodeUnprepareResources: (request) =>
      answersFor(request, (claim) => {
        if (specs !== undefined) rmSync(file(claim), { force: true })
        return {}
      }),
  }
  return startPlugin({
    type: 'DRAPlugin',
    name,
    versions: [`${version}.DRAPlugin`],
    registry: options.registry,
    folder: options.folder,
    proto: version === 'v1' ? 'dra' : 'dra-v1beta1',
    service: `k8s.io.kubelet.pkg.apis.dra.${version}.DRAPlugin`,
    answers: { ...usual, ...options.answers },
    asked: options.asked,
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , name = '', registry = '', folder = '', specs = ''] = process.argv
  const asked = (method: string, request: Request) => console.log(JSON.stringify([method, request]))
  const { stop } = await startDraDriver({ name, registry, folder, specs, asked })
  process.once('SIGTERM', () => {
    stop()
    process.exit(0)
  })
}
