/** Claims of devices: what a device must be, what is shared, what is taken away. */
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
import { on, pod, running, waitUnsched } from '../objects.ts'
import type { Story } from '../story.ts'

export const deviceRulesStories = {
  'dra-first-available': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      await slice(s, [gpu('d1', 'small'), gpu('d2', 'large', '40Gi')])
      const model = (of: string) => [{ cel: { expression: `device.attributes["${driver(s)}"].model == "${of}"` } }]
      await template(s, {
        requests: [
          {
            name: 'r',
            firstAvailable: [
              { name: 'large', deviceClassName: `${s.ns}-c`, selectors: model('large') },
              { name: 'small', deviceClassName: `${s.ns}-c`, selectors: model('small') },
            ],
          },
        ],
      })
      await using(s, 'p', FROM_TEMPLATE)
      await s.untilObj('pods', 'p', running)
      await using(s, 'q', FROM_TEMPLATE)
      await s.untilObj('pods', 'q', running)
      await using(s, 'r', FROM_TEMPLATE)
      await waitUnsched(s, 'r')
      await s.del('pods', 'p')
      await s.untilObj('pods', 'r', running)
      await s.pause(1500)
    },
    clean: cleaned,
  },
  'dra-constraint-and-count': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      await slice(s, [gpu('d1', 'a'), gpu('d2', 'b'), gpu('d3', 'b')])
      await resourceClaim(s, 'two', {
        requests: [{ name: 'r', exactly: exactly(s, { allocationMode: 'ExactCount', count: 2 }) }],
        constraints: [{ requests: ['r'], matchAttribute: `${driver(s)}/model` }],
      })
      await using(s, 'p', { resourceClaimName: 'two' })
      await s.untilObj('pods', 'p', running)
      await resourceClaim(s, 'more', { requests: [{ name: 'r', exactly: exactly(s, { count: 2 }) }] })
      await using(s, 'q', { resourceClaimName: 'more' })
      await waitUnsched(s, 'q')
      await s.pause(1000)
      await s.del('pods', 'p')
      await s.pause(1500)
      await s.del('resourceclaims', 'two')
      await s.untilObj('pods', 'q', running)
      await s.pause(1000)
    },
    clean: cleaned,
  },
  'dra-taint-rule-evicts': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      await slice(s, [gpu('d1', 'a'), gpu('d2', 'a')])
      await template(s, { requests: [{ name: 'r', exactly: exactly(s) }] })
      await s.create('resourceclaimtemplates', {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'ResourceClaimTemplate',
        metadata: { name: 'tolerant' },
        spec: {
          spec: {
            devices: {
              requests: [
                {
                  name: 'r',
                  exactly: exactly(s, {
                    tolerations: [{ key: 'bad', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 4 }],
                  }),
                },
              ],
            },
          },
        },
      })
      await using(s, 'p', FROM_TEMPLATE)
      await s.untilObj('pods', 'p', running)
      await using(s, 'q', { resourceClaimTemplateName: 'tolerant' })
      await s.untilObj('pods', 'q', running)
      await s.create('devicetaintrules', {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'DeviceTaintRule',
        metadata: { name: `${s.ns}-t` },
        spec: { deviceSelector: { driver: driver(s) }, taint: { key: 'bad', value: 'v', effect: 'NoExecute' } },
      })
      await s.gone('pods', 'p')
      await s.gone('pods', 'q')
      await using(s, 'late', FROM_TEMPLATE)
      await waitUnsched(s, 'late')
      await s.pause(12_000)
      await s.del('devicetaintrules', `${s.ns}-t`)
      await s.untilObj('pods', 'late', running)
      await s.pause(1500)
    },
    clean: cleaned,
  },
  'dra-slice-taints': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      await slice(s, [{ ...gpu('d1', 'a'), taints: [{ key: 'k', effect: 'NoSchedule' }] }, gpu('d2', 'a')])
      await template(s, { requests: [{ name: 'r', exactly: exactly(s) }] })
      await using(s, 'p', FROM_TEMPLATE)
      await s.untilObj('pods', 'p', running)
      await using(s, 'q', FROM_TEMPLATE)
      await waitUnsched(s, 'q')
      const { spec } = await s.get('resourceslices', `${s.ns}-s`)
      await s.patch('resourceslices', `${s.ns}-s`, {
        spec: {
          pool: { ...spec.pool, generation: 2 },
          devices: [gpu('d1', 'a'), { ...gpu('d2', 'a'), taints: [{ key: 'k', effect: 'NoExecute' }] }],
        },
      })
      await s.untilObj('pods', 'q', running)
      await s.gone('pods', 'p')
      await s.pause(2000)
    },
    clean: cleaned,
  },
  'dra-counters': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      const part = (name: string, memory: string) => ({
        name,
        consumesCounters: [{ counterSet: 'whole', counters: { memory: { value: memory } } }],
      })
      const pool = { name: 'p', generation: 1, resourceSliceCount: 2 }
      await slice(
        s,
        [],
        { sharedCounters: [{ name: 'whole', counters: { memory: { value: '40Gi' } } }], nodeName: `${s.ns}-n1`, pool },
        'k',
      )
      await slice(s, [part('d1', '20Gi'), part('d2', '20Gi'), part('d3', '30Gi')], { pool })
      await template(s, { requests: [{ name: 'r', exactly: exactly(s) }] })
      await using(s, 'p', FROM_TEMPLATE)
      await s.untilObj('pods', 'p', running)
      await using(s, 'q', FROM_TEMPLATE)
      await s.untilObj('pods', 'q', running)
      await using(s, 'r', FROM_TEMPLATE)
      await waitUnsched(s, 'r')
      await s.pause(1500)
    },
    clean: cleaned,
  },
  'dra-shared-capacity': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      await slice(s, [{ ...gpu('d1', 'a', '10Gi'), allowMultipleAllocations: true }])
      await template(s, {
        requests: [{ name: 'r', exactly: exactly(s, { capacity: { requests: { memory: '4Gi' } } }) }],
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
  'dra-extended-resource': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s, { extendedResourceName: `${s.ns}.x.y/gpu` })
      await slice(s, [gpu('d1', 'a'), gpu('d2', 'a')])
      const asks = (count: string) => ({
        containers: [{ name: 'c', image: 'i', resources: { limits: { [`${s.ns}.x.y/gpu`]: count } } }],
      })
      await s.create('pods', pod('p', on(s, asks('1'))))
      await s.untilObj('pods', 'p', running)
      await s.create('pods', pod('q', on(s, asks('2'))))
      await waitUnsched(s, 'q')
      await s.pause(1000)
      await s.del('pods', 'p')
      await s.untilObj('pods', 'q', running)
      await s.pause(1500)
    },
    clean: cleaned,
  },
  'dra-admin-and-finished': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      await slice(s, [gpu('d1', 'a')])
      await template(s, { requests: [{ name: 'r', exactly: exactly(s) }] })
      await using(s, 'p', FROM_TEMPLATE, { restartPolicy: 'Never' })
      await s.untilObj('pods', 'p', running)
      const watching = { requests: [{ name: 'r', exactly: exactly(s, { adminAccess: true, allocationMode: 'All' }) }] }
      await resourceClaim(s, 'admin', watching).catch((error) => s.note(error.message))
      await s.patch('namespaces', s.ns, { metadata: { labels: { 'resource.kubernetes.io/admin-access': 'true' } } })
      await resourceClaim(s, 'admin', watching)
      await using(s, 'a', { resourceClaimName: 'admin' })
      await s.untilObj('pods', 'a', running)
      await using(s, 'q', FROM_TEMPLATE)
      await waitUnsched(s, 'q')
      await s.ended({ metadata: { name: 'p' } }, 0)
      await s.untilObj('pods', 'q', running)
      await s.pause(1500)
    },
    clean: cleaned,
  },
  'dra-generated-claim-deleted-soon': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      await template(s, { requests: [{ name: 'r', exactly: exactly(s) }] })
      await using(s, 'p', FROM_TEMPLATE)
      await waitUnsched(s, 'p')
      const [first] = await s.list('resourceclaims')
      await s.del('resourceclaims', first.metadata.name)
      await s.pause(3000)
      s.note(`claims ${(await s.list('resourceclaims')).length}`)
      await s.del('pods', 'p')
      await s.pause(1000)
    },
    clean: cleaned,
  },
  'dra-generated-claim-made-anew': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      await template(s, { requests: [{ name: 'r', exactly: exactly(s) }] })
      await using(s, 'p', FROM_TEMPLATE)
      await waitUnsched(s, 'p')
      await s.pause(3000)
      const [first] = await s.list('resourceclaims')
      await s.del('resourceclaims', first.metadata.name)
      await s.pause(2000)
      s.note(`claims ${(await s.list('resourceclaims')).length}`)
      await s.patch('pods', 'p', { metadata: { labels: { l: 'm' } } })
      await s.pause(1500)
      await slice(s, [gpu('d1', 'a')])
      await s.untilObj('pods', 'p', running)
      const [second] = await s.list('resourceclaims')
      await s.del('resourceclaims', second.metadata.name)
      await s.pause(1500)
      await s.del('pods', 'p')
      await s.pause(2500)
    },
    clean: cleaned,
  },
  'dra-claims-of-two-pods-and-reserved': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      await slice(s, [gpu('g1', 'x'), gpu('g2', 'y')])
      await resourceClaim(s, 'both', { requests: [{ name: 'r', exactly: exactly(s, { allocationMode: 'All' }) }] })
      await using(s, 'p', { resourceClaimName: 'both' })
      await using(s, 'q', { resourceClaimName: 'both' })
      await s.untilPods(2, running)
      await resourceClaim(s, 'one', { requests: [{ name: 'r', exactly: exactly(s) }] })
      await using(s, 'w', { resourceClaimName: 'one' })
      await waitUnsched(s, 'w')
      await s.pause(1500)
      await s.del('pods', 'p')
      await s.pause(2500)
      await s.del('pods', 'q')
      await s.untilObj('pods', 'w', running)
      await s.pause(2500)
    },
    clean: cleaned,
  },
  'dra-selectors-by-version-and-capacity': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      const card = (name: string, version: string, memory: string) => ({
        name,
        attributes: { version: { version }, index: { int: 1 }, on: { bool: true } },
        capacity: { memory: { value: memory } },
      })
      await slice(s, [card('g1', '1.2.3', '8Gi'), card('g2', '2.0.0', '16Gi'), card('g3', '2.1.0', '4Gi')])
      const d = driver(s)
      const cel = (expression: string) => ({
        requests: [{ name: 'r', exactly: exactly(s, { selectors: [{ cel: { expression } }] }) }],
      })
      await resourceClaim(
        s,
        'a',
        cel(
          `device.attributes["${d}"].version.isGreaterThan(semver("1.9.0")) && device.capacity["${d}"].memory.compareTo(quantity("10Gi")) > 0`,
        ),
      )
      await resourceClaim(s, 'b', cel(`device.attributes["${d}"].missing == "x"`))
      await resourceClaim(
        s,
        'c',
        cel(
          `has(device.attributes["${d}"].on) && device.attributes["${d}"].on && device.attributes["${d}"].version.major() == 1`,
        ),
      )
      for (const name of ['a', 'b', 'c']) await using(s, name, { resourceClaimName: name })
      await s.untilObj('pods', 'a', running)
      await s.untilObj('pods', 'c', running)
      await s.pause(2500)
      s.note(JSON.stringify((await s.get('resourceclaims', 'a')).status.allocation.devices.results[0].device))
    },
    clean: cleaned,
  },
  'dra-template-and-pod-that-never-runs': {
    nodes: ['n1'],
    async act(s) {
      await deviceClass(s)
      await template(s, { requests: [{ name: 'r', exactly: exactly(s) }] })
      await using(s, 'p', FROM_TEMPLATE)
      await waitUnsched(s, 'p')
      await s.pause(1500)
      await slice(s, [gpu('g1', 'x')])
      await s.untilObj('pods', 'p', running)
      await using(s, 'q', FROM_TEMPLATE, { schedulingGates: [{ name: 'x.y/g' }] })
      await s.pause(2000)
      await s.del('pods', 'q')
      await s.pause(2000)
      s.note(String((await s.list('resourceclaims')).length))
    },
    clean: cleaned,
  },
} satisfies Readonly<Record<string, Story>>
