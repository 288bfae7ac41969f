/** Claims of devices through the lives of pods, workloads, nodes and pools. */
import {
  cleaned,
  deviceClass,
  driver,
  exactly,
  FROM_TEMPLATE,
  gpu,
  resourceClaim,
  slice,
  template,
  using,
} from '../device-objects.ts'
import { dep, done, force, job, on, pc, pod, rm, running, sts, waitUnsched } from '../objects.ts'
import type { Scene, Story } from '../story.ts'

const one = (s: Scene) => template(s, { requests: [{ name: 'r', exactly: exactly(s) }] })
/** What a template of pods has, so that each has a claim of its own. */
const claiming = (s: Scene, more: object = {}) =>
  on(s, {
    resourceClaims: [{ name: 'c', ...FROM_TEMPLATE }],
    containers: [{ name: 'c', image: 'i', resources: { claims: [{ name: 'c' }] } }],
    ...more,
  })
const claimsLeft = async (s: Scene, count: number) =>
  s.until(`${count} claims`, async () => [...(await s.list('resourceclaims'))].length === count)

export const deviceLivesStories = {
  'dra-job': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      await slice(s, [gpu('d1', 'a')])
      await one(s)
      await s.create('jobs', job('j', { completions: 2, parallelism: 1 }, claiming(s, { restartPolicy: 'Never' })))
      const [first] = await s.untilPods(1, running)
      await s.ended(first, 0)
      const last = await s.until('another', async () =>
        [...(await s.list('pods'))].find((p) => running(p) && p.metadata.name !== first.metadata.name),
      )
      if (last !== undefined) await s.ended(last, 0)
      await claimsLeft(s, 0)
      await s.pause(1000)
    },
    clean: cleaned,
  },
  'dra-deployment-scaled-down': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      await slice(s, [gpu('d1', 'a'), gpu('d2', 'a')])
      await one(s)
      await s.create('deployments', dep('a', { replicas: 2 }, claiming(s)))
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', { spec: { replicas: 0 } })
      await claimsLeft(s, 0)
      await s.pause(1000)
    },
    clean: cleaned,
  },
  'dra-statefulset-pod-again': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      await slice(s, [gpu('d1', 'a')])
      await one(s)
      await s.create('statefulsets', sts('a', { replicas: 1 }, claiming(s)))
      await s.untilPods(1, running)
      const [claim] = await s.list('resourceclaims')
      await s.del('pods', 'a-0')
      await s.until('another claim', async () =>
        [...(await s.list('resourceclaims'))].some(({ metadata }) => metadata.uid !== claim.metadata.uid),
      )
      await s.untilPods(1, running)
      await claimsLeft(s, 1)
      await s.pause(1500)
    },
    clean: cleaned,
  },
  'dra-class-comes-late': {
    nodes: ['n1'],
    async act(s) {
      await slice(s, [gpu('d1', 'a')])
      await one(s)
      await using(s, 'p', FROM_TEMPLATE)
      await waitUnsched(s, 'p')
      await s.pause(1000)
      await deviceClass(s)
      await s.untilObj('pods', 'p', running)
      await s.pause(1000)
    },
    clean: cleaned,
  },
  'dra-class-changed': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s, { selectors: [{ cel: { expression: 'device.driver == "none"' } }] })
      await slice(s, [gpu('d1', 'a')])
      await one(s)
      await using(s, 'p', FROM_TEMPLATE)
      await waitUnsched(s, 'p')
      await s.pause(1000)
      await s.patch('deviceclasses', `${s.ns}-c`, {
        spec: { selectors: [{ cel: { expression: `device.driver == "${driver(s)}"` } }] },
      })
      await s.untilObj('pods', 'p', running)
      await s.pause(1000)
    },
    clean: cleaned,
  },
  'dra-claim-pins-its-node': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await deviceClass(s)
      await slice(s, [gpu('d1', 'a')])
      await resourceClaim(s, 'k', { requests: [{ name: 'r', exactly: exactly(s) }] })
      await using(s, 'p', { resourceClaimName: 'k' })
      await s.untilObj('pods', 'p', running)
      await using(
        s,
        'q',
        { resourceClaimName: 'k' },
        { nodeSelector: { 'kubernetes.io/hostname': `${s.ns}-n2`, scenario: s.ns } },
      )
      await waitUnsched(s, 'q')
      await s.pause(1000)
      await s.del('pods', 'p')
      await s.pause(3000)
      await s.del('pods', 'q')
      await s.pause(1500)
    },
    clean: cleaned,
  },
  'dra-preempts': {
    nodes: ['n1'],
    async act(s) {
      await pc(s, 'hi', 1000)
      await deviceClass(s)
      await slice(s, [gpu('d1', 'a')])
      await one(s)
      await using(s, 'low', FROM_TEMPLATE)
      await s.untilObj('pods', 'low', running)
      await using(s, 'hi', FROM_TEMPLATE, { priorityClassName: `${s.ns}-hi` })
      await waitUnsched(s, 'hi')
      await s.pause(4000)
    },
    clean: (s) => Promise.all([cleaned(s), rm(['priorityclasses', 'hi'])(s)]),
  },
  'dra-taint-of-one-device': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      await slice(s, [gpu('d1', 'a'), gpu('d2', 'a')])
      await one(s)
      for (const name of ['p', 'q']) {
        await using(s, name, FROM_TEMPLATE)
        await s.untilObj('pods', name, running)
      }
      await s.create('devicetaintrules', {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'DeviceTaintRule',
        metadata: { name: `${s.ns}-t` },
        spec: {
          deviceSelector: { driver: driver(s), pool: 'p', device: 'd2' },
          taint: { key: 'bad', effect: 'None' },
        },
      })
      await s.pause(3000)
      await s.patch('devicetaintrules', `${s.ns}-t`, { spec: { taint: { key: 'bad', effect: 'NoExecute' } } })
      await s.gone('pods', 'q')
      await s.pause(12_000)
    },
    clean: cleaned,
  },
  'dra-taint-of-a-shared-claim': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      await slice(s, [gpu('d1', 'a')])
      await resourceClaim(s, 'k', { requests: [{ name: 'r', exactly: exactly(s) }] })
      for (const name of ['p', 'q']) {
        await using(s, name, { resourceClaimName: 'k' })
        await s.untilObj('pods', name, running)
      }
      const { spec } = await s.get('resourceslices', `${s.ns}-s`)
      await s.patch('resourceslices', `${s.ns}-s`, {
        spec: {
          pool: { ...spec.pool, generation: 2 },
          devices: [{ ...gpu('d1', 'a'), taints: [{ key: 'k', effect: 'NoExecute' }] }],
        },
      })
      await s.gone('pods', 'p')
      await s.gone('pods', 'q')
      await s.pause(2500)
    },
    clean: cleaned,
  },
  'dra-capacity-by-policy': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      const memory = {
        value: '10Gi',
        requestPolicy: { default: '3Gi', validRange: { min: '1Gi', max: '8Gi', step: '2Gi' } },
      }
      await slice(s, [{ name: 'd1', allowMultipleAllocations: true, capacity: { memory } }])
      await one(s)
      await s.create('resourceclaimtemplates', {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'ResourceClaimTemplate',
        metadata: { name: 'four' },
        spec: {
          spec: {
            devices: {
              requests: [{ name: 'r', exactly: exactly(s, { capacity: { requests: { memory: '4Gi' } } }) }],
            },
          },
        },
      })
      await using(s, 'p', FROM_TEMPLATE)
      await s.untilObj('pods', 'p', running)
      await using(s, 'q', { resourceClaimTemplateName: 'four' })
      await s.untilObj('pods', 'q', running)
      await using(s, 'r', FROM_TEMPLATE)
      await waitUnsched(s, 'r')
      await s.pause(1500)
    },
    clean: cleaned,
  },
  'dra-whole-after-parts': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      const part = (name: string, memory: string) => ({
        name,
        attributes: { size: { string: memory } },
        consumesCounters: [{ counterSet: 'all', counters: { memory: { value: memory } } }],
      })
      const pool = { name: 'p', generation: 1, resourceSliceCount: 2 }
      const sharedCounters = [{ name: 'all', counters: { memory: { value: '40Gi' } } }]
      await slice(s, [], { sharedCounters, nodeName: `${s.ns}-n1`, pool }, 'k')
      await slice(s, [part('d1', '40Gi'), part('d2', '10Gi'), part('d3', '10Gi')], { pool })
      const sized = (size: string) => [{ cel: { expression: `device.attributes["${driver(s)}"].size == "${size}"` } }]
      await template(s, { requests: [{ name: 'r', exactly: exactly(s, { selectors: sized('10Gi') }) }] })
      await resourceClaim(s, 'whole', { requests: [{ name: 'r', exactly: exactly(s, { selectors: sized('40Gi') }) }] })
      await using(s, 'p', FROM_TEMPLATE)
      await s.untilObj('pods', 'p', running)
      await using(s, 'w', { resourceClaimName: 'whole' })
      await waitUnsched(s, 'w')
      await s.del('pods', 'p')
      await s.untilObj('pods', 'w', running)
      await using(s, 'q', FROM_TEMPLATE)
      await waitUnsched(s, 'q')
      await s.pause(1500)
    },
    clean: cleaned,
  },
  'dra-alternatives-of-counts': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      await slice(s, [gpu('d1', 'a'), gpu('d2', 'a'), gpu('d3', 'a')])
      await template(s, {
        requests: [
          {
            name: 'r',
            firstAvailable: [
              { name: 'two', deviceClassName: `${s.ns}-c`, count: 2 },
              { name: 'one', deviceClassName: `${s.ns}-c` },
            ],
          },
        ],
      })
      for (const name of ['p', 'q']) {
        await using(s, name, FROM_TEMPLATE)
        await s.untilObj('pods', name, running)
      }
      await using(s, 'r', FROM_TEMPLATE)
      await waitUnsched(s, 'r')
      await s.del('pods', 'p')
      await s.untilObj('pods', 'r', running)
      await s.pause(1500)
    },
    clean: cleaned,
  },
  'dra-forced-pod': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      await slice(s, [gpu('d1', 'a')])
      await resourceClaim(s, 'k', { requests: [{ name: 'r', exactly: exactly(s) }] })
      await using(s, 'p', { resourceClaimName: 'k' })
      await s.untilObj('pods', 'p', running)
      await force(s, await s.get('pods', 'p'))
      await s.untilObj('resourceclaims', 'k', ({ status }) => status?.allocation === undefined)
      await s.pause(1500)
    },
    clean: cleaned,
  },
  'dra-claim-deleted-while-used': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      await slice(s, [gpu('d1', 'a')])
      await resourceClaim(s, 'k', { requests: [{ name: 'r', exactly: exactly(s) }] })
      await using(s, 'p', { resourceClaimName: 'k' }, { restartPolicy: 'Never' })
      await s.untilObj('pods', 'p', running)
      await s.del('resourceclaims', 'k')
      await using(s, 'q', { resourceClaimName: 'k' })
      await waitUnsched(s, 'q')
      await s.pause(1000)
      await s.ended({ metadata: { name: 'p' } }, 1)
      await s.gone('resourceclaims', 'k')
      await s.pause(1500)
      await resourceClaim(s, 'k', { requests: [{ name: 'r', exactly: exactly(s) }] })
      await s.untilObj('pods', 'q', running)
      await s.pause(1500)
    },
    clean: cleaned,
  },
  'dra-pool-grows': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      await slice(s, [gpu('d1', 'a')], { pool: { name: 'p', generation: 2, resourceSliceCount: 2 } })
      await template(s, { requests: [{ name: 'r', exactly: exactly(s, { allocationMode: 'All' }) }] })
      await using(s, 'p', FROM_TEMPLATE)
      await waitUnsched(s, 'p')
      await s.pause(1000)
      await slice(s, [gpu('d2', 'a')], { pool: { name: 'p', generation: 2, resourceSliceCount: 2 } }, 'k')
      await s.untilObj('pods', 'p', running)
      await s.pause(1000)
    },
    clean: cleaned,
  },
  'dra-node-named-by-the-user': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      await slice(s, [gpu('d1', 'a')])
      await resourceClaim(s, 'k', { requests: [{ name: 'r', exactly: exactly(s) }] })
      await using(s, 'p', { resourceClaimName: 'k' })
      await s.untilObj('pods', 'p', running)
      await using(s, 'q', { resourceClaimName: 'k' }, { nodeName: `${s.ns}-n1` })
      await s.untilObj('resourceclaims', 'k', ({ status }) => status?.reservedFor?.length === 2, 10_000)
      await s.del('pods', 'p')
      await s.pause(2500)
      await s.del('pods', 'q')
      await s.pause(2500)
    },
    clean: cleaned,
  },
  'dra-node-named-and-template': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      await slice(s, [gpu('d1', 'a')])
      await one(s)
      await using(s, 'p', FROM_TEMPLATE, { nodeName: `${s.ns}-n1` })
      await s.pause(4000)
      await s.del('pods', 'p')
      await claimsLeft(s, 0)
      await s.pause(1500)
    },
    clean: cleaned,
  },
  'dra-two-claims-one-missing': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      await slice(s, [gpu('d1', 'a'), gpu('d2', 'b')])
      await one(s)
      const claims = [
        { name: 'own', ...FROM_TEMPLATE },
        { name: 'named', resourceClaimName: 'k' },
      ]
      const containers = [
        { name: 'c', image: 'i', resources: { claims: [{ name: 'own', request: 'r' }, { name: 'named' }] } },
      ]
      await s.create('pods', pod('p', on(s, { resourceClaims: claims, containers })))
      await waitUnsched(s, 'p')
      await s.pause(1500)
      await resourceClaim(s, 'k', { requests: [{ name: 'r', exactly: exactly(s) }] })
      await s.untilObj('pods', 'p', running)
      await s.pause(1000)
      await s.del('pods', 'p')
      await claimsLeft(s, 1)
      await s.pause(1500)
    },
    clean: cleaned,
  },
  'dra-admin-of-what-is-tainted': {
    nodes: ['n1'],
    async act(s) {
      await s.patch('namespaces', s.ns, { metadata: { labels: { 'resource.kubernetes.io/admin-access': 'true' } } })
      await deviceClass(s)
      await slice(s, [{ ...gpu('d1', 'a'), taints: [{ key: 'k', effect: 'NoSchedule' }] }, gpu('d2', 'a')])
      const all = { adminAccess: true, allocationMode: 'All' }
      await resourceClaim(s, 'strict', { requests: [{ name: 'r', exactly: exactly(s, all) }] })
      const tolerations = [{ operator: 'Exists' }]
      await resourceClaim(s, 'tolerant', { requests: [{ name: 'r', exactly: exactly(s, { ...all, tolerations }) }] })
      await using(s, 'p', { resourceClaimName: 'strict' })
      await s.pause(2000)
      await using(s, 'q', { resourceClaimName: 'tolerant' })
      await s.untilObj('pods', 'q', running)
      await s.pause(1500)
    },
    clean: cleaned,
  },
} satisfies Readonly<Record<string, Story>>
