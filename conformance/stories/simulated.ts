/** Plays a story to a control plane of this checkout in simulated time: API server, all controllers, scheduler, and KWOK's part by stages. */
import { asKubeObject, type Fields } from '../../src/api/object.ts'
import type { ApiRequest, UserInfo } from '../../src/api/request.ts'
import { logBackend } from '../../src/apiserver/audit/backend.ts'
import type { AuditLog, Noted } from '../../src/apiserver/audit/log.ts'
import { parsePolicy } from '../../src/apiserver/audit/policy.ts'
import { audit } from '../../src/apiserver/filters/audit.ts'
import { sleep } from '../../src/base/clock.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { createClient, inProcessTransport } from '../../src/client/transport.ts'
import { unevenTransport } from '../../src/client/uneven-transport.ts'
import { issueForRequest } from '../../src/cluster/certificate.ts'
import { loadPki } from '../../src/cluster/pki.ts'
import { startControllerManager } from '../../src/controllers/manager.ts'
import { playStages } from '../../src/kubelet/stages/play-stages.ts'
import { readStage } from '../../src/kubelet/stages/stage-file.ts'
import { startScheduler } from '../../src/scheduler/scheduler.ts'
import { ADMIN, startTestApi } from '../../test/harness.ts'
import { startNodeStandIn } from '../../test/scenarios/node-stand-in.ts'
import { auditPolicy, writesOf } from './audited.ts'
import type { PlayedStory } from './facts.ts'
import { kwokStages } from './kwok-stages.ts'
import { lateWatches } from './late-watches.ts'
import { playStory } from './play.ts'
import { resourcesOf } from './scene.ts'
import type { Story } from './story.ts'

const SCHEDULER: UserInfo = { name: 'system:kube-scheduler', groups: ['system:authenticated'] }
/** So long the cluster has run before the story begins. When what is looked at each 15 s has its turn is another for the last seeds. */
const SETTLE_MS = 12_000
const SETTLED_ALIKE = 6
const LATER_MS = 2500
/** What a request takes over a wire, of a component and of a user. */
const COMPONENTS_TURN_MS = 3
/** What is created passes more admission than what is updated: with the later seeds it takes longer. */
const CREATES_TURN_MS = 6
const USERS_TURN_MS = 20
/** Whether a component has seen what it wrote by the time it is answered is chance: another for each seed. */
const WATCHES_LATE_MS = [0, 2, 5]
const MANY = { maxSteps: 5_000_000 }

export async function playSimulated(name: string, story: Story, seed = 1): Promise<PlayedStory> {
  const runtime = simulatedRuntime(seed, { order: 'fifo' })
  const stopping = new AbortController()
  const { signal } = stopping
  const audited: Fields[] = []
  const log = memoryLog(audited)
  const api = await runtime.complete(
    startTestApi(runtime, {
      auth: () => ({ filters: { audit: audit(runtime, parsePolicy(JSON.stringify(auditPolicy)), [logBackend(log)]) } }),
      registerDefinitions: true,
      repairAddresses: true,
    }),
    MANY,
  )
  const inside = inProcessTransport(api.handler)
  const lateMs = WATCHES_LATE_MS[(seed - 1) % WATCHES_LATE_MS.length] ?? 0
  const createMs = seed > WATCHES_LATE_MS.length ? CREATES_TURN_MS : COMPONENTS_TURN_MS
  const takesMs = ({ method }: ApiRequest) => (method === 'POST' ? createMs : COMPONENTS_TURN_MS)
  const transport = lateWatches(runtime, unevenTransport(runtime, inside, takesMs), lateMs)
  const clientFor = ({ user, userAgent }: { readonly user: UserInfo; readonly userAgent: string }) =>
    createClient(runtime, transport, { user, userAgent })
  const asAdmin = (userAgent: string) => clientFor({ user: ADMIN, userAgent })
  const pki = loadPki(runtime, undefined, '127.0.0.1', [])
  try {
    const start = async () => {
      await startControllerManager({
        runtime,
        clientFor,
        rootCa: pki.ca.cert,
        signToken: () => 't'.repeat(200),
        signCertificate: (request) => issueForRequest(runtime, request, pki.ca),
        signal,
      })
      const client = clientFor({ user: SCHEDULER, userAgent: 'kube-scheduler' })
      await startScheduler({ runtime, client, signal })
      await playStages({
        runtime,
        client: asAdmin('kwok'),
        clientAs: undefined,
        stages: kwokStages.map((stage) => readStage(asKubeObject(stage))),
        isSimulated: () => false,
        podCIDROf: () => '10.0.0.0/16',
        signal,
      })
      const kwok = asAdmin('kwok')
      await startNodeStandIn(runtime, kwok, signal).add('idle', { runsPods: false })
      const nodes = kwok.resource({ group: '', version: 'v1', resource: 'nodes' })
      await nodes.patch('idle', 'merge', { spec: { taints: [{ key: 'idle', effect: 'NoSchedule' }] } })
      const namespaces = kwok.resource({ group: '', version: 'v1', resource: 'namespaces' })
      for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease'])
        await namespaces.create(asKubeObject({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }))
      for (const number of [1, 2, 3]) await nodes.create(asKubeObject(largeNode(`kwok-${number}`)))
      await sleep(runtime.clock, SETTLE_MS + LATER_MS * Math.max(0, seed - SETTLED_ALIKE))
      const user = createClient(
        runtime,
        unevenTransport(runtime, inside, () => USERS_TURN_MS),
        {
          user: ADMIN,
          userAgent: 'user',
        },
      )
      return playStory({
        name,
        story,
        clock: runtime.clock,
        user,
        observer: asAdmin('observer'),
        resources: await resourcesOf(user),
        isShared: false,
        writes: async () => writesOf(audited),
      })
    }
    return await runtime.complete(start(), MANY)
  } finally {
    stopping.abort()
    await runtime.complete(api.stop(), MANY)
  }
}

const SIZE = { cpu: '32', memory: '256Gi', pods: '2000' }
const largeNode = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name,
    annotations: { 'kwok.x-k8s.io/node': 'fake' },
    labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' },
  },
  status: { allocatable: SIZE, capacity: SIZE },
})

function memoryLog(entries: Fields[]): AuditLog {
  const keep = (text: string) => void entries.push(JSON.parse(text) as Fields)
  return {
    behind: 0,
    append: async (event: Pick<Noted, 'text'>) => keep(event.text()),
    note: (event) => keep(event.text()),
    close: async () => {},
  }
}
