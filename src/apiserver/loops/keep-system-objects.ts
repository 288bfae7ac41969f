/**
 * What of a fresh cluster's objects an API server makes again when they are gone: every ten seconds since its start the Service `kubernetes` and the
 * ServiceCIDR of that name, every minute the system namespaces and the configuration of priority and fairness. Roles are restored at a start
 * alone (bootstrap.ts).
 */
import { type KubeObject, parseApiVersion } from '../../api/object.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { isNotFound } from '../../api/status.ts'
import type { CacheReads } from '../reads.ts'
import {
  type BootstrapOptions,
  type BootstrapWriter,
  bootstrapObjects,
  createBootstrapWriter,
  ensure,
} from './bootstrap.ts'
import { flowControlSteps } from './flow-control-configuration.ts'
import { startTickedLoop } from './settling.ts'

export interface SystemObjectsOptions extends BootstrapOptions {
  /** Calls the listener at every change under a storage prefix; returns the way to end it. */
  readonly follow: (storagePrefix: string, listener: () => void) => () => void
  readonly signal: AbortSignal
}

const SERVICE_MS = 10_000
const CONFIGURATION_MS = 60_000
/** A FlowSchema may name a level only once that is there. */
const FLOW_CONTROL_KINDS = ['PriorityLevelConfiguration', 'FlowSchema']

/** Flow control's configuration may be switched off (--runtime-config). @throws Error for a scheme without one of the other kinds */
export function keepSystemObjects(options: SystemObjectsOptions): void {
  const { reads } = options
  const writer = createBootstrapWriter(options)
  const objects = bootstrapObjects(options)
  const ofKind = (kind: string): Kept => {
    const wanted = objects.filter((object) => object.kind === kind)
    const { group, version } = parseApiVersion(wanted[0]?.apiVersion ?? '')
    const row = options.scheme.findKind(group, version, kind)
    if (row === undefined) throw new Error(`no ${kind} of a fresh cluster is served`)
    return { row, wanted }
  }
  const makeMissing = async ({ row, wanted }: Kept) => {
    for (const object of wanted) {
      const { namespace = '', name = '' } = object.metadata
      if (reads.get(row.group, row.resource, namespace, name) === undefined) await ensure(options, writer, object)
    }
  }
  const loop = (name: string, periodMs: number, kept: readonly Kept[], work: () => Promise<void>) => {
    const onChange = (listener: () => void) => {
      const ends = kept.map(({ row }) => options.follow(row.storagePrefix, listener))
      return () => {
        for (const end of ends) end()
      }
    }
    startTickedLoop({ runtime: options.runtime, name, periodMs, work, onChange, signal: options.signal })
  }
  const keep = (name: string, periodMs: number, kind: string) => {
    const kept = ofKind(kind)
    loop(name, periodMs, [kept], () => makeMissing(kept))
  }
  keep('kubernetes service', SERVICE_MS, 'Service')
  keep('default service CIDR', SERVICE_MS, 'ServiceCIDR')
  keep('system namespaces', CONFIGURATION_MS, 'Namespace')
  if (!options.scheme.groups().has('flowcontrol.apiserver.k8s.io')) return
  const flowControl = FLOW_CONTROL_KINDS.map(ofKind)
  loop('priority and fairness configuration', CONFIGURATION_MS, flowControl, async () => {
    for (const kept of flowControl) await keepFlowControl(reads, writer, kept)
  })
}

interface Kept {
  readonly row: ResourceRow
  readonly wanted: readonly KubeObject[]
}

async function keepFlowControl(reads: CacheReads, writer: BootstrapWriter, { row, wanted }: Kept): Promise<void> {
  for (const { action, object } of flowControlSteps(wanted, reads.list(row.group, row.resource))) {
    if (action === 'create') await writer.create(object)
    else if (action === 'update') await writer.update(object)
    else await writer.remove(object).catch(unlessGone)
  }
}

function unlessGone(error: unknown): void {
  if (!isNotFound(error)) throw error
}
