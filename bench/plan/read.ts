/** Reads a cluster as a plan does, and says how much there was. */
import { parseArgs } from 'node:util'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { kubeconfigTransport } from '../../src/client/kubeconfig-transport.ts'
import { readModel } from '../../src/inspect/plan/plan.ts'

const { values } = parseArgs({ options: { kubeconfig: { type: 'string', default: '' } } })
// What it takes to load sources that are compiled anew is no part of it.
const [began, before] = [performance.now(), process.cpuUsage()]
const runtime = liveRuntime()
const { transport } = kubeconfigTransport(runtime, values.kubeconfig)
const { image } = await readModel({ runtime, transport, userAgent: 'skiff plan' })
const { user, system } = process.cpuUsage(before)
const reading = { seconds: (performance.now() - began) / 1000, cpuSeconds: (user + system) / 1e6 }
process.stdout.write(JSON.stringify({ objects: image.image.items.length, reading }))
transport.close()
