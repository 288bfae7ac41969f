/** skiff twin: what a cluster holds, in a cluster of its own in memory, for as long as this command runs. */
import { dirname } from 'node:path'
import { liveRuntime } from '../base/live-runtime.ts'
import { plainLine } from '../base/plain-text.ts'
import type { ClockKind } from '../cluster/options.ts'
import { SKIFF_VERSION } from '../cluster/version.ts'
import { outsideOf, outsideWords } from '../inspect/twin/outside.ts'
import { readCluster } from '../inspect/twin/read-cluster.ts'
import { modelOf, startTwinOf } from '../inspect/twin/twin.ts'
import { type ClusterFlags, chosenCluster, told } from './any-cluster.ts'

export interface TwinFlags extends Omit<ClusterFlags, 'kubeconfig'> {
  readonly from?: string
  readonly namespace: readonly string[]
  readonly clock: ClockKind
  readonly port: number
  readonly secrets?: boolean
}

export async function twin(flags: TwinFlags): Promise<void> {
  const { from, namespace, clock, port, secrets = false } = flags
  const runtime = liveRuntime()
  const { transport } = chosenCluster(runtime, { ...flags, ...(from === undefined ? {} : { kubeconfig: from }) })
  const source = { runtime, transport, userAgent: `skiff/${SKIFF_VERSION} twin` }
  const namespaces = namespace.length === 0 ? {} : { namespaces: namespace }
  const read = await told(transport, () => readCluster(source, { secrets, ...namespaces })).finally(() =>
    transport.close(),
  )
  const ended = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  const cluster = await startTwinOf(modelOf(read), { clock, programs: 'obeys', port })
  try {
    const objects = read.resources.reduce((count, { items }) => count + items.length, 0)
    for (const { what, why } of read.unread)
      process.stderr.write(`not in the twin: ${plainLine(`${what}: ${why}`, 400)}\n`)
    for (const line of outsideWords(outsideOf(read))) process.stderr.write(`not called: ${plainLine(line, 400)}\n`)
    const how =
      clock === 'manual'
        ? `its time stands still: skiff clock advance 30s --data-dir ${dirname(cluster.kubeconfigFile)} moves it\n`
        : ''
    process.stdout.write(
      `a twin of ${transport.host} with ${objects} objects is at ${cluster.url}; Ctrl-C ends it\n${how}export KUBECONFIG=${cluster.kubeconfigFile}\n`,
    )
    await ended
  } finally {
    await cluster.stop()
  }
}
