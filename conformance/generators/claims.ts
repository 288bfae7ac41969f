/**
 * ResourceClaims (API concept: Dynamic Resource Allocation): their status as a scheduler and drivers write it, valid and broken;
 * what stays as it was; and administrative access, which a namespace must allow by its label.
 */
import type { Case, Step } from '../recording.ts'
import { DELETE, GET, PATCH, POST, PUT } from './hostile-requests.ts'
import { A, M } from './semantic-parts.ts'

// biome-ignore lint/suspicious/noExplicitAny: claims, broken on purpose
type Any = any

const CLAIMS = '/apis/resource.k8s.io/v1/namespaces/$NS/resourceclaims'
const TEMPLATES = '/apis/resource.k8s.io/v1/namespaces/$NS/resourceclaimtemplates'
const DRIVER = 'gpu.example.com'
const then = '2026-01-01T00:00:00Z'

const claim = (metadata: Any = {}): Any => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaim',
  metadata: { name: 'c', ...metadata },
  spec: {
    devices: {
      requests: [
        { name: 'one', exactly: { deviceClassName: DRIVER, allocationMode: 'ExactCount', count: 2 } },
        {
          name: 'any',
          firstAvailable: [
            { name: 'big', deviceClassName: DRIVER },
            { name: 'small', deviceClassName: DRIVER },
          ],
        },
      ],
    },
  },
})
const result = (more: Any = {}) => ({ request: 'one', driver: DRIVER, pool: 'p', device: 'a', ...more })
const allocation = (more: Any = {}, devices: Any = {}) => ({
  devices: { results: [result(), result({ request: 'any/small', device: 'b' })], ...devices },
  ...more,
})
const pod = (name: string, more: Any = {}) => ({ resource: 'pods', name, uid: `uid-${name}`, ...more })
const device = (more: Any = {}) => ({ driver: DRIVER, pool: 'p', device: 'a', ...more })
const condition = (type: string, more: Any = {}) => ({
  type,
  status: 'True',
  reason: 'Because',
  message: 'm',
  lastTransitionTime: then,
  ...more,
})
const opaque = { driver: DRIVER, parameters: { a: 1 } }
const long = (n: number) => 'x'.repeat(n)
const many = (n: number, of: (i: number) => Any) => Array.from({ length: n }, (_, i) => of(i))

const put = (status: Any, query = 'dryRun=All'): Step => PUT(`${CLAIMS}/c/status?${query}`, { ...claim(), status })
const written = (status: Any): Step => put(status, 'x=written')

const results = (...list: readonly Any[]) => ({ allocation: allocation({}, { results: list }) })
const uuid = '0a1b2c3d-0000-4000-8000-0123456789ab'

/** Allocations that a claim without one is given. */
const ALLOCATIONS: readonly Any[] = [
  { allocation: {} },
  { allocation: allocation() },
  { allocation: allocation({ allocationTimestamp: then }) },
  results(),
  results(result({ request: '' })),
  results(result({ request: 'two' })),
  results(result({ request: 'any' })),
  results(result({ request: 'any/huge' })),
  results(result({ request: 'one/x' })),
  results(result({ request: 'a/b/c' })),
  results(result({ request: 'A' })),
  results(result({ driver: '' })),
  results(result({ driver: 'Bad Driver' })),
  results(result({ driver: long(64) })),
  results(result({ pool: '' })),
  results(result({ pool: 'a//b' })),
  results(result({ pool: `${long(200)}/${long(60)}` })),
  results(result({ device: '' })),
  results(result({ device: 'A b' })),
  results(result(), result()),
  results(result(), result({ shareID: uuid })),
  results(result({ shareID: uuid }), result({ shareID: uuid })),
  results(result({ shareID: uuid }), result({ shareID: uuid.replace('0a', '1a') })),
  results(result({ shareID: uuid.toUpperCase() })),
  results(result({ shareID: '' })),
  results(...many(33, (i) => result({ device: `d${i}` }))),
  results(result({ adminAccess: false })),
  results(result({ adminAccess: true })),
  results(result({ consumedCapacity: { memory: '1Gi' } })),
  results(result({ consumedCapacity: { memory: '1Gi' }, shareID: uuid })),
  results(result({ consumedCapacity: { 'a b': '-1' }, shareID: uuid })),
  results(result({ bindingConditions: ['a'], bindingFailureConditions: ['b'] })),
  results(result({ bindingConditions: ['a', 'a'], bindingFailureConditions: ['b', 'b'] })),
  results(result({ bindingConditions: ['a'], bindingFailureConditions: ['a'] })),
  results(result({ bindingConditions: ['a'] })),
  results(result({ bindingFailureConditions: ['a'] })),
  results(result({ bindingConditions: ['a b', ''], bindingFailureConditions: ['A'] })),
  results(result({ bindingConditions: many(5, (i) => `a${i}`), bindingFailureConditions: many(5, (i) => `b${i}`) })),
  results(result({ tolerations: [{ operator: 'Exists' }] })),
  results(result({ tolerations: [{ key: 'a b', operator: 'Equal', value: 'c d', effect: 'Never' }] })),
  results(result({ tolerations: [{ key: 'a', operator: 'Exists', value: 'b', effect: 'NoExecute' }] })),
  results(
    result({
      tolerations: [
        { key: 'a', operator: 'Like' },
        { key: 'b', operator: '' },
      ],
    }),
  ),
  results(result({ tolerations: many(17, (i) => ({ key: `k${i}`, operator: 'Exists' })) })),
  { allocation: allocation({}, { config: [{ source: 'FromClaim', opaque }] }) },
  { allocation: allocation({}, { config: [{ source: 'FromClass', requests: ['one', 'any/big'], opaque }] }) },
  { allocation: allocation({}, { config: [{ source: '', opaque }] }) },
  { allocation: allocation({}, { config: [{ source: 'Other', opaque }] }) },
  { allocation: allocation({}, { config: [{ source: 'FromClaim' }] }) },
  { allocation: allocation({}, { config: [{ source: 'FromClaim', opaque: { driver: DRIVER } }] }) },
  { allocation: allocation({}, { config: [{ source: 'FromClaim', opaque: { driver: '', parameters: 1 } }] }) },
  { allocation: allocation({}, { config: [{ source: 'FromClaim', opaque: { driver: 'A b', parameters: [] } }] }) },
  {
    allocation: allocation({}, { config: [{ source: 'FromClaim', requests: ['x', 'one', 'one', 'A/b', ''], opaque }] }),
  },
  { allocation: allocation({}, { config: many(65, () => ({ source: 'FromClaim', opaque })) }) },
  {
    allocation: allocation(
      {},
      { config: [{ source: 'FromClaim', opaque: { ...opaque, parameters: { a: long(11000) } } }] },
    ),
  },
  { allocation: allocation({ nodeSelector: {} }) },
  { allocation: allocation({ nodeSelector: { nodeSelectorTerms: [] } }) },
  { allocation: allocation({ nodeSelector: { nodeSelectorTerms: [{}, {}] } }) },
  {
    allocation: allocation({
      nodeSelector: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a b', operator: 'In', values: [] }] }] },
    }),
  },
  {
    allocation: allocation({
      nodeSelector: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n', 'm'] }] }],
      },
    }),
  },
  { reservedFor: [pod('a')] },
  { devices: [device()] },
  { allocation: allocation(), reservedFor: [pod('a')], devices: [device()] },
  { allocation: allocation(), reservedFor: [pod('a'), pod('b', { uid: 'uid-a' })] },
  { allocation: allocation(), reservedFor: [pod('a'), pod('a')] },
  { allocation: allocation(), reservedFor: [{}] },
  { allocation: allocation(), reservedFor: [pod('', { uid: '' })] },
  { allocation: allocation(), reservedFor: [pod('A B', { apiGroup: 'Bad Group', resource: 'Pods Here', uid: 'u v' })] },
  {
    allocation: allocation(),
    reservedFor: [pod(long(300), { apiGroup: long(300), resource: long(300), uid: long(300) })],
  },
  { allocation: allocation(), reservedFor: many(257, (i) => pod(`p${i}`)) },
  { ...results(result({ request: 'two' })), reservedFor: [{}], devices: [device({ device: 'c' })] },
  { reservedFor: [{}], devices: [device({ device: '' })] },
  results(result({ pool: 'p/A b/c' })),
  results(result({ skipNodeOperations: ['*'] })),
  results(result({ request: 'two', device: '', bindingConditions: ['a'], driver: '' })),
]

/** Statuses of a claim that is allocated and reserved. */
const ALLOCATED = { allocation: allocation(), reservedFor: [pod('a')] }
const devices = (...list: readonly Any[]) => ({ ...ALLOCATED, devices: list })
const network = (networkData: Any) => devices(device({ networkData }))
const LATER: readonly Any[] = [
  {},
  { allocation: allocation() },
  { reservedFor: [pod('a')] },
  { ...ALLOCATED, allocation: allocation({}, { results: [result()] }) },
  { ...ALLOCATED, allocation: allocation({ allocationTimestamp: then }) },
  { ...ALLOCATED, reservedFor: [pod('a'), pod('b')] },
  { ...ALLOCATED, reservedFor: [pod('b'), pod('a')] },
  { ...ALLOCATED, reservedFor: many(257, (i) => pod(`p${i}`)) },
  { ...ALLOCATED, reservedFor: many(256, (i) => pod(`p${i}`)) },
  devices(device()),
  devices(device({ device: 'b' }), device()),
  devices(device(), device()),
  devices(device({ device: 'c' })),
  devices(device({ shareID: uuid })),
  devices(device({ shareID: 'x' })),
  devices({ driver: '', pool: '', device: '' }),
  devices({ driver: 'A b', pool: 'a//b', device: 'A b' }),
  devices({ driver: long(64), pool: long(300), device: long(70) }),
  devices(device({ conditions: [condition('Ready')] })),
  devices(device({ conditions: [condition('Ready'), condition('Ready')] })),
  devices(device({ conditions: [condition('', { status: '', reason: '', message: '', lastTransitionTime: null })] })),
  devices(device({ conditions: [condition('a b', { status: 'Maybe', reason: '1 a', observedGeneration: -1 })] })),
  devices(device({ conditions: [condition('T', { reason: long(1025), message: long(32769) })] })),
  devices(device({ conditions: many(8, (i) => condition(`T${i}`)) })),
  devices(device({ conditions: many(9, (i) => condition(`T${i}`)) })),
  devices(device({ data: { a: 1 } })),
  devices(device({ data: null })),
  devices(device({ data: 'text' })),
  devices(device({ data: [1] })),
  devices(device({ data: { a: long(11000) } })),
  network({}),
  network({ interfaceName: 'eth0', ips: ['10.0.0.1/24', 'fd00::1/64'], hardwareAddress: 'aa:bb' }),
  network({ interfaceName: long(257) }),
  network({ hardwareAddress: long(129) }),
  network({ ips: ['10.0.0.1', '', 'x', '10.0.0.0/33'] }),
  network({ ips: ['10.0.0.1/24', '10.0.0.1/24', '010.0.0.1/24', '::ffff:1.2.3.4/120', 'FD00::1/64'] }),
  network({ ips: many(17, (i) => `10.0.0.${i}/24`) }),
]

const statusCases = (): readonly Case[] => [
  { name: 'a status that allocates', steps: [POST(CLAIMS, claim()), ...ALLOCATIONS.map((status) => put(status))] },
  {
    name: 'a status of what is allocated',
    steps: [POST(CLAIMS, claim()), written(ALLOCATED), ...LATER.map((status) => put(status))],
  },
  {
    name: 'from allocated to free',
    steps: [
      POST(CLAIMS, { ...claim(), status: ALLOCATED }),
      written(ALLOCATED),
      written(devices(device({ conditions: [condition('Ready')], data: { a: 1 } }))),
      written({ allocation: allocation(), devices: [device()] }),
      written({ allocation: allocation() }),
      written({ devices: [device()] }),
      written({}),
      written({ allocation: allocation({ allocationTimestamp: then }, { results: [result({ device: 'z' })] }) }),
      PUT(`${CLAIMS}/c?x=spec`, { ...claim({ labels: { a: 'b' } }), status: {} }),
      PUT(`${CLAIMS}/c?x=spec`, { ...claim(), spec: { devices: {} } }),
      PATCH(`${CLAIMS}/c/status`, M, {
        spec: null,
        metadata: { labels: { c: 'd' } },
        status: { reservedFor: [pod('z')] },
      }),
      PATCH(`${CLAIMS}/c/status?fieldManager=two`, A, {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'ResourceClaim',
        metadata: { name: 'c' },
        status: { reservedFor: [pod('y')] },
      }),
      GET(`${CLAIMS}/c`),
    ],
  },
  {
    name: 'a claim that is being deleted',
    steps: [
      POST(CLAIMS, claim({ finalizers: ['example.com/f'] })),
      written(ALLOCATED),
      DELETE(`${CLAIMS}/c`),
      put({ ...ALLOCATED, reservedFor: [pod('a'), pod('b')] }),
      put({ ...ALLOCATED, reservedFor: [pod('b')] }),
      put({ ...ALLOCATED, reservedFor: [] }),
      written({}),
      written(ALLOCATED),
      put({ allocation: allocation() }),
      PATCH(`${CLAIMS}/c`, M, { metadata: { finalizers: null } }),
    ],
  },
  {
    name: 'a claim that is being deleted and not allocated',
    steps: [
      POST(CLAIMS, claim({ finalizers: ['example.com/f'] })),
      DELETE(`${CLAIMS}/c`),
      written(ALLOCATED),
      put({ allocation: allocation() }),
      PATCH(`${CLAIMS}/c`, M, { metadata: { finalizers: null } }),
    ],
  },
]

const withAccess = (object: Any, path: Any, adminAccess: unknown = true): Any => {
  const copy = structuredClone(object)
  const requests = path(copy).devices.requests
  requests[0].exactly.adminAccess = adminAccess
  return copy
}
const template = (): Any => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaimTemplate',
  metadata: { name: 't' },
  spec: { spec: claim().spec },
})
const ofClaim = (object: Any) => object.spec
const ofTemplate = (object: Any) => object.spec.spec
const label = (value: string | null): Step => ({
  ...PATCH('/api/v1/namespaces/$NS', M, { metadata: { labels: { 'resource.kubernetes.io/admin-access': value } } }),
})

const accessCases = (): readonly Case[] =>
  [null, 'true', 'false', 'True', ''].map((value) => ({
    name: `administrative access where the label is ${value}`,
    steps: [
      label(value),
      { ...POST(`${CLAIMS}?dryRun=All`, withAccess(claim(), ofClaim, false)), settle: true },
      POST(`${CLAIMS}?dryRun=All`, withAccess(claim(), ofClaim)),
      POST(CLAIMS, withAccess(claim({ generateName: 'x' }), ofClaim)),
      PUT(`${CLAIMS}/c?dryRun=All`, withAccess(claim({ labels: { a: 'b' } }), ofClaim)),
      put({ allocation: allocation({}, { results: [result({ adminAccess: true })] }) }),
      put({ allocation: allocation({}, { results: [result({ adminAccess: true }), result({ adminAccess: true })] }) }),
      put({ allocation: allocation({}, { results: [result({ adminAccess: true }), result()] }) }),
      PUT(`${CLAIMS}/c/status`, {
        ...claim(),
        status: { allocation: allocation({}, { results: [result(), result({ adminAccess: true })] }) },
      }),
      POST(`${CLAIMS}?dryRun=All`, withAccess({ ...claim({ name: 'A' }) }, ofClaim)),
      POST(`${TEMPLATES}?dryRun=All`, withAccess(template(), ofTemplate, false)),
      POST(`${TEMPLATES}?dryRun=All`, withAccess(template(), ofTemplate)),
      POST(TEMPLATES, withAccess(template(), ofTemplate)),
      PUT(`${TEMPLATES}/t?dryRun=All`, withAccess(template(), ofTemplate)),
      label(null),
      { ...PUT(`${CLAIMS}/c`, withAccess(claim({ labels: { a: 'b' } }), ofClaim)), settle: true },
      PUT(`${TEMPLATES}/t`, withAccess({ ...template(), metadata: { name: 't', labels: { a: 'b' } } }, ofTemplate)),
      put({
        allocation: allocation({}, { results: [result(), result({ adminAccess: true })] }),
        reservedFor: [pod('a')],
      }),
      put({ allocation: allocation({}, { results: [result({ adminAccess: true })] }) }),
      DELETE(`${CLAIMS}/c`),
      DELETE(`${TEMPLATES}/t`),
    ],
  }))

export const claimCases = (): readonly Case[] => [...statusCases(), ...accessCases()]
