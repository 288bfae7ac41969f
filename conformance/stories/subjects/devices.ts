/** Claims of devices. */

import type { Fields } from '../../../src/api/object.ts'
import { on, pod, rm, running, waitUnsched } from '../objects.ts'
import type { Scene, Story } from '../story.ts'

const FROM_TEMPLATE = { resourceClaimTemplateName: 't' }

/** A pod whose container uses a claim. */
const claiming = (s: Scene, name: string, claim: Fields) =>
  pod(
    name,
    on(s, {
      resourceClaims: [{ name: 'c', ...claim }],
      containers: [{ name: 'c', image: 'i', resources: { claims: [{ name: 'c' }] } }],
    }),
  )

export const devicesStories = {
  'dra-claims': {
    nodes: ['n1'],
    async act(s) {
      await s.create('deviceclasses', {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'DeviceClass',
        metadata: { name: `${s.ns}-c` },
        spec: { selectors: [{ cel: { expression: `device.driver == "x.y"` } }] },
      })
      await s.create('resourceclaimtemplates', {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'ResourceClaimTemplate',
        metadata: { name: 't' },
        spec: {
          metadata: { labels: { l: 'm' } },
          spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: `${s.ns}-c` } }] } },
        },
      })
      await s.create('pods', claiming(s, 'p', FROM_TEMPLATE))
      await waitUnsched(s, 'p')
      await s.pause(1000)
      await s.create('resourceslices', {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'ResourceSlice',
        metadata: { name: `${s.ns}-s` },
        spec: {
          driver: 'x.y',
          nodeName: `${s.ns}-n1`,
          pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
          devices: [{ name: 'd1' }],
        },
      })
      await s.untilObj('pods', 'p', running)
      await s.create('pods', claiming(s, 'q', FROM_TEMPLATE))
      await waitUnsched(s, 'q')
      await s.del('pods', 'p')
      await s.untilObj('pods', 'q', running)
      await s.pause(1500)
    },
    clean: rm(['deviceclasses', 'c'], ['resourceslices', 's']),
  },
  'dra-named-shared': {
    nodes: ['n1'],
    async act(s) {
      await s.create('deviceclasses', {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'DeviceClass',
        metadata: { name: `${s.ns}-c` },
        spec: {},
      })
      const use = (n: string) => claiming(s, n, { resourceClaimName: 'k' })
      await s.create('pods', use('early'))
      await waitUnsched(s, 'early')
      await s.create('resourceclaims', {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'ResourceClaim',
        metadata: { name: 'k' },
        spec: {
          devices: { requests: [{ name: 'r', exactly: { deviceClassName: `${s.ns}-c`, allocationMode: 'All' } }] },
        },
      })
      await s.pause(1000)
      await s.create('resourceslices', {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'ResourceSlice',
        metadata: { name: `${s.ns}-s` },
        spec: {
          driver: 'x.y',
          nodeName: `${s.ns}-n1`,
          pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
          devices: [{ name: 'd1' }, { name: 'd2' }],
        },
      })
      await s.untilObj('pods', 'early', running)
      await s.create('pods', use('two'))
      await s.untilObj('pods', 'two', running)
      await s.del('resourceclaims', 'k')
      await s.pause(1000)
      await s.del('pods', 'early')
      await s.del('pods', 'two')
      await s.gone('resourceclaims', 'k')
      await s.pause(1000)
    },
    clean: rm(['deviceclasses', 'c'], ['resourceslices', 's']),
  },
  'dra-template-missing': {
    async act(s) {
      await s.create(
        'pods',
        pod('p', {
          resourceClaims: [{ name: 'c', resourceClaimTemplateName: 'none' }],
          containers: [{ name: 'c', image: 'i', resources: { claims: [{ name: 'c' }] } }],
        }),
      )
      await s.pause(4000)
      await s.del('pods', 'p')
      await s.pause(1000)
    },
  },
} satisfies Readonly<Record<string, Story>>
