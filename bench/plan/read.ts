/** Reads a cluster as a plan does, and says how much there was. */
import { parseArgs } from 'node:util'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { kubeconfigTransport } from '../../src/client/kubeconfig-transport.ts'
import { readModel } from '../../src/inspect/plan/plan.ts'

const { values } = parseArgs({ options: { kubeconfig: { type: 'string', default: '' } } })
const runtime = liveRuntime()
const { transport } = kubeconfigTransport(runtime, values.kubeconfig)
const { image } = await readModel({ runtime, transport, userAgent: 'skiff plan' })
process.stdout.write(JSON.stringify({ objects: image.image.items.length }))
transport.close()
