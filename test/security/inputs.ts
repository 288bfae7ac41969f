/** Bodies, names and queries that are sent by mistake or malice. */
import type { Attempt } from './attacker.ts'

const NS = '/api/v1/namespaces/attacked'

const deep = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth)
const configMap = (more: string) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},${more}}`
const yaml = { 'content-type': 'application/yaml' }
export interface BadInput extends Attempt {
  /** What an administrator gets. */
  readonly code: number
  /** What an account without rights gets; 403 unless the request is refused before anyone is asked about it. */
  readonly attacker?: number
}

/**
 * Refused to everyone, an administrator too, each with one code. It is the code of a real server, but for the four rows whose
 * many errors a real server is too long at to say (504 after its 34 seconds).
 */
export const refusedToEveryone: Readonly<Record<string, BadInput>> = {
  'deep objects': {
    code: 400,
    method: 'POST',
    path: `${NS}/configmaps`,
    body: deep('{"a":', '}', 200_000),
  },
  'deep lists': {
    code: 400,
    method: 'POST',
    path: `${NS}/configmaps`,
    body: deep('[', ']', 500_000),
  },
  'deep lists inside an object': {
    code: 400,
    method: 'POST',
    path: `${NS}/configmaps`,
    body: configMap(`"data":${deep('[', ']', 100_000)}`),
  },
  'deep YAML': {
    code: 400,
    method: 'POST',
    path: `${NS}/configmaps`,
    body: deep('[', ']', 100_000),
    headers: yaml,
  },
  'a YAML bomb': {
    code: 400,
    method: 'POST',
    path: `${NS}/configmaps`,
    headers: yaml,
    body: `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
      .split('')
      .map((n, i) => `${n}: &${n} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(',')}]`)
      .join('\n')}`,
  },
  'a YAML anchor to itself': {
    code: 400,
    method: 'POST',
    path: `${NS}/configmaps`,
    body: 'a: &a [*a]',
    headers: yaml,
  },
  'YAML with many keys and a complex one': {
    code: 400,
    method: 'POST',
    path: `${NS}/configmaps`,
    body: '? [a, b]\n: c',
    headers: yaml,
  },
  'a body that says it is over 3 MiB': {
    code: 413,
    method: 'POST',
    path: `${NS}/configmaps`,
    headers: { 'content-length': `${4 * 1024 * 1024}` },
    body: 'x',
  },
  'a number too large': {
    code: 400,
    method: 'POST',
    path: `${NS}/configmaps`,
    body: configMap(`"data":{"a":1e99999}`),
  },
  'a number of many digits': {
    code: 400,
    method: 'POST',
    path: `${NS}/configmaps`,
    body: configMap(`"data":${'9'.repeat(100_000)}`),
  },
  'invalid UTF-8': {
    code: 422,
    method: 'POST',
    path: `${NS}/configmaps`,
    body: Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe, 0xc0]), Buffer.from('"}')]),
  },
  'a null byte in a name': {
    code: 404,
    method: 'GET',
    path: `${NS}/configmaps/a%00b`,
  },
  'an escape that is none': {
    code: 400,
    attacker: 400,
    method: 'GET',
    path: `${NS}/configmaps/%zz`,
  },
  'a name of 8 kB': {
    code: 404,
    method: 'GET',
    path: `${NS}/configmaps/${'x'.repeat(8000)}`,
  },
  'protobuf that is none': {
    code: 400,
    method: 'POST',
    path: `${NS}/configmaps`,
    body: Buffer.from('k8s\0\xff\xff\xff\xff\xff', 'latin1'),
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
  },
  'protobuf that says it is long': {
    code: 400,
    method: 'POST',
    path: `${NS}/configmaps`,
    body: Buffer.from([0x6b, 0x38, 0x73, 0, 0x12, 0xff, 0xff, 0xff, 0xff, 0x7f]),
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
  },
  'an unknown encoding': {
    code: 415,
    method: 'POST',
    path: `${NS}/configmaps`,
    body: '{}',
    headers: { 'content-encoding': 'br', 'content-type': 'application/x-evil' },
  },
  'a selector of parentheses': {
    code: 400,
    method: 'GET',
    path: `${NS}/pods?labelSelector=${encodeURIComponent('a in ('.repeat(2000))}`,
  },
  'a field selector of garbage': {
    code: 400,
    method: 'GET',
    // Terms without a field select everything, as in Kubernetes; one about a field that is none is refused.
    path: `${NS}/pods?fieldSelector=${encodeURIComponent(`${',,,==,!='.repeat(500)},bogus==x`)}`,
  },
  'a continue token of garbage': {
    code: 400,
    method: 'GET',
    path: `${NS}/pods?limit=1&continue=${'A'.repeat(5000)}`,
  },
  'a negative limit': {
    code: 400,
    method: 'GET',
    path: `${NS}/pods?limit=-1&continue=x`,
  },
  'a resourceVersion of text': {
    code: 400,
    method: 'GET',
    path: `${NS}/pods?resourceVersion=x`,
  },
  'a huge resourceVersion': {
    code: 400,
    method: 'GET',
    path: `${NS}/pods?resourceVersion=99999999999999999999999`,
  },
  'a JSON patch to everywhere': {
    code: 422,
    method: 'PATCH',
    path: `${NS}`,
    body: '[{"op":"copy","from":"","path":"/metadata/annotations"}]',
    headers: { 'content-type': 'application/json-patch+json' },
  },
  'a JSON patch that doubles': {
    code: 413,
    method: 'PATCH',
    path: `${NS}`,
    body: JSON.stringify(Array(10_001).fill({ op: 'test', path: '/kind', value: 'Namespace' })),
    headers: { 'content-type': 'application/json-patch+json' },
  },
  'a patch of the prototype': {
    code: 422,
    method: 'PATCH',
    path: `${NS}`,
    body: '[{"op":"add","path":"/__proto__/polluted","value":"yes"}]',
    headers: { 'content-type': 'application/json-patch+json' },
  },
  'a patch of the constructor': {
    code: 422,
    method: 'PATCH',
    path: `${NS}`,
    body: '[{"op":"add","path":"/constructor/prototype/polluted","value":"yes"}]',
    headers: { 'content-type': 'application/json-patch+json' },
  },
  'an apply that is a list': {
    code: 400,
    method: 'PATCH',
    path: `${NS}?fieldManager=m`,
    body: '[]',
    headers: { 'content-type': 'application/apply-patch+yaml' },
  },
  'a timeout of a million digits': {
    code: 400,
    attacker: 400,
    method: 'GET',
    path: `/healthz?timeout=${'1'.repeat(1_000_000)}`,
  },
  'a manager of nothing but control characters': {
    code: 422,
    method: 'POST',
    path: `${NS}/configmaps?fieldManager=${'%01'.repeat(300_000)}`,
    body: configMap('"data":{}'),
  },
  'a certificate request of beginnings': {
    code: 422,
    method: 'POST',
    path: '/apis/certificates.k8s.io/v1/certificatesigningrequests',
    body: JSON.stringify({
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'x' },
      spec: {
        signerName: 'example.com/x',
        usages: Array.from({ length: 50_000 }, (_, i) => i.toString(36)),
        request: Buffer.from('-----BEGIN A-----\n'.repeat(60_000)).toString('base64'),
      },
    }),
  },
  'a pod of equal spread constraints, ports and paths': {
    code: 422,
    method: 'POST',
    path: `${NS}/pods`,
    body: JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'x' },
      spec: {
        serviceAccountName: 'nobody',
        containers: [{ name: 'c', image: 'x', ports: Array(20_000).fill({ name: 'a', containerPort: 1 }) }],
        topologySpreadConstraints: Array(10_000).fill({
          maxSkew: 1,
          topologyKey: 'k',
          whenUnsatisfiable: 'DoNotSchedule',
        }),
        volumes: [{ name: 'v', configMap: { name: 'x', items: Array(10_000).fill({ key: 'a', path: 'a' }) } }],
      },
    }),
  },
  'a quota of scopes that are none': {
    code: 422,
    method: 'POST',
    path: `${NS}/resourcequotas`,
    body: JSON.stringify({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'x' },
      spec: { hard: { pods: '1' }, scopes: Array.from({ length: 50_000 }, (_, i) => `s${i}`) },
    }),
  },
  'many query parameters': {
    code: 400,
    method: 'GET',
    path: `${NS}/pods?${'limit=x&'.repeat(1500)}`,
  },
}
