/** Nodes, slices, classes, claims and pods in few words. */
import type { Fields } from '../../src/api/object.ts'

export const DRIVER = 'gpu.example.com'
const GROUP = 'resource.k8s.io/v1'
const object = (apiVersion: string, kind: string, name: string, more: Fields): Fields => ({
  apiVersion,
  kind,
  metadata: { name },
  ...more,
})

export const node = (name: string, labels: Fields = {}): Fields => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels },
  status: {
    capacity: { cpu: '8', memory: '8Gi', pods: '110' },
    conditions: [{ type: 'Ready', status: 'True' }],
  },
})

/** A device of that name, with attributes and whatever else. */
export const device = (name: string, attributes: Fields = {}, more: Fields = {}): Fields => ({
  name,
  ...(Object.keys(attributes).length === 0 ? {} : { attributes }),
  ...more,
})
export const devices = (...names: readonly string[]): readonly Fields[] => names.map((name) => device(name))

/** A slice of the pool of that node, which is its only one. */
export const slice = (name: string, nodeName: string, list: readonly Fields[], more: Fields = {}): Fields =>
  poolSlice(name, nodeName, { nodeName, devices: list, ...more })

export const poolSlice = (name: string, pool: string, more: Fields, poolMore: Fields = {}): Fields =>
  object(GROUP, 'ResourceSlice', name, {
    spec: { driver: DRIVER, pool: { name: pool, generation: 1, resourceSliceCount: 1, ...poolMore }, ...more },
  })

export const deviceClass = (name = 'gpu', more: Fields = {}): Fields =>
  object(GROUP, 'DeviceClass', name, {
    spec: { selectors: [{ cel: { expression: `device.driver == "${DRIVER}"` } }], ...more },
  })

export const cel = (expression: string): Fields => ({ selectors: [{ cel: { expression } }] })

export const exactly = (name: string, more: Fields = {}): Fields => ({
  name,
  exactly: { deviceClassName: 'gpu', ...more },
})
export const firstAvailable = (name: string, ...list: readonly Fields[]): Fields => ({
  name,
  firstAvailable: list.map((one) => ({ deviceClassName: 'gpu', ...one })),
})

export const claim = (name: string, requests: readonly Fields[] = [exactly('r')], more: Fields = {}): Fields =>
  object(GROUP, 'ResourceClaim', name, { spec: { devices: { requests, ...more } } })

export const template = (name: string, requests: readonly Fields[] = [exactly('r')], more: Fields = {}): Fields =>
  object(GROUP, 'ResourceClaimTemplate', name, {
    spec: {
      metadata: { labels: { of: name }, annotations: { 'example.com/a': 'b' } },
      spec: { devices: { requests, ...more } },
    },
  })

/** `claims`: by the pod's own name for it, `claim:NAME` or `template:NAME`. */
export const pod = (name: string, claims: Readonly<Record<string, string>> = {}, more: Fields = {}): Fields =>
  object('v1', 'Pod', name, {
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'c', image: 'i', resources: { claims: Object.keys(claims).map((own) => ({ name: own })) } }],
      resourceClaims: Object.entries(claims).map(([own, source]) => {
        const [kind, of] = source.split(':')
        return { name: own, [kind === 'template' ? 'resourceClaimTemplateName' : 'resourceClaimName']: of }
      }),
      ...more,
    },
  })

export const taintRule = (name: string, spec: Fields): Fields => object(GROUP, 'DeviceTaintRule', name, { spec })
