/** Devices, claims of them, and pods that use these, as stories make them. */
import type { Fields } from '../../src/api/object.ts'
import { on, pod, rm } from './objects.ts'
import type { Scene } from './story.ts'

export const deviceClass = (s: Scene, spec: Fields = {}) =>
  s.create('deviceclasses', {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'DeviceClass',
    metadata: { name: `${s.ns}-c` },
    spec: { selectors: [{ cel: { expression: `device.driver == "${driver(s)}"` } }], ...spec },
  })
export const driver = (s: Scene) => `${s.ns}.x.y`
export const slice = (s: Scene, devices: readonly Fields[], more: Fields = {}, name = 's') =>
  s.create('resourceslices', {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceSlice',
    metadata: { name: `${s.ns}-${name}` },
    spec: {
      driver: driver(s),
      ...(more['sharedCounters'] === undefined && more['nodeName'] === undefined ? { nodeName: `${s.ns}-n1` } : {}),
      pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
      ...(devices.length === 0 ? {} : { devices }),
      ...more,
    },
  })
export const resourceClaim = (s: Scene, name: string, devices: Fields) =>
  s.create('resourceclaims', {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name },
    spec: { devices },
  })
export const template = (s: Scene, devices: Fields) =>
  s.create('resourceclaimtemplates', {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaimTemplate',
    metadata: { name: 't' },
    spec: { spec: { devices } },
  })
export const using = (s: Scene, name: string, claim: Fields, more: Fields = {}) =>
  s.create(
    'pods',
    pod(
      name,
      on(s, {
        resourceClaims: [{ name: 'c', ...claim }],
        containers: [{ name: 'c', image: 'i', resources: { claims: [{ name: 'c' }] } }],
        ...more,
      }),
    ),
  )
export const FROM_TEMPLATE = { resourceClaimTemplateName: 't' }
export const exactly = (s: Scene, more: Fields = {}) => ({ deviceClassName: `${s.ns}-c`, ...more })
export const gpu = (name: string, model: string, memory = '8Gi') => ({
  name,
  attributes: { model: { string: model }, index: { int: Number(name.slice(1)) } },
  capacity: { memory: { value: memory } },
})
export const cleaned = rm(
  ['deviceclasses', 'c'],
  ['resourceslices', 's'],
  ['resourceslices', 'k'],
  ['devicetaintrules', 't'],
)
