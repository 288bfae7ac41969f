/** Certificate signing requests: who asks is written down by the server, who approves and signs needs the signer's rights. */
import type { Case, Step } from '../recording.ts'

/** PKCS#10, base64 of the PEM: O=system:masters/CN=mallory, O=dev/CN=jane, O=system:nodes/CN=system:node:n1. */
export const MASTERS =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIbE1JR05BZ0VBTUNzeEZ6QVZCZ05WQkFvTURuTjVjM1JsYlRw' +
  'dFlYTjBaWEp6TVJBd0RnWURWUVFEREFkdApZV3hzYjNKNU1Ga3dFd1lIS29aSXpqMENBUVlJS29aSXpqMERBUWNEUWdBRWhnSExD' +
  'UmczT0Zaalg5UmdBelZzCjFISE5Fai9DL0NpZFFTWjhQQ3dYUEVkVUtYMndkckErb0VsOFJhVlZlRFNuTm9yRTE3N0g0WS9MeWJS' +
  'WVZHd3oKMktBQU1Bb0dDQ3FHU000OUJBTUNBMGNBTUVRQ0lCd2swRE0vbEtmM3ZqdEwyS0NhUTM3ZjRFelBWT3hMTlJuVgpoYlZB' +
  'TkpKQ0FpQTl3dkJxUWdJajdTcHZPd2dCMW92STEzc1lkU2FlMVpMcXRYdmlMZVNKdHc9PQotLS0tLUVORCBDRVJUSUZJQ0FURSBS' +
  'RVFVRVNULS0tLS0K'
export const JANE =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIWE1IOENBUUF3SFRFTU1Bb0dBMVVFQ2d3RFpHVjJNUTB3Q3dZ' +
  'RFZRUUREQVJxWVc1bE1Ga3dFd1lIS29aSQp6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUVoZ0hMQ1JnM09GWmpYOVJnQXpWczFISE5F' +
  'ai9DL0NpZFFTWjhQQ3dYClBFZFVLWDJ3ZHJBK29FbDhSYVZWZURTbk5vckUxNzdINFkvTHliUllWR3d6MktBQU1Bb0dDQ3FHU000' +
  'OUJBTUMKQTBnQU1FVUNJUUR1b2lDVDFQa3BqanBKdzVrQ201VFI4aDJMaHVGclBCcjlGM3BweDMzQ2xnSWdXUmRVcVYvKwpFOEN1' +
  'Sk9PbWYwL0UwdVB0OGRodm80Zzc2Tzc5UUJTMHdzcz0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg=='
export const NODE =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIc01JR1NBZ0VBTURBeEZUQVRCZ05WQkFvTURITjVjM1JsYlRw' +
  'dWIyUmxjekVYTUJVR0ExVUVBd3dPYzNsegpkR1Z0T201dlpHVTZiakV3V1RBVEJnY3Foa2pPUFFJQkJnZ3Foa2pPUFFNQkJ3TkNB' +
  'QVNHQWNzSkdEYzRWbU5mCjFHQUROV3pVY2MwU1A4TDhLSjFCSm53OExCYzhSMVFwZmJCMnNENmdTWHhGcFZWNE5LYzJpc1RYdnNm' +
  'aGo4dkoKdEZoVWJEUFlvQUF3Q2dZSUtvWkl6ajBFQXdJRFNRQXdSZ0loQU9oTHF3U3FqQWlFS2M3RjZiWkxnQUZ3OGp3RQpQd3Fq' +
  'S0tsYkNzK2plNS82QWlFQW0vKzBaYWc3RWMxQ1cyK3VsUzZiVjkvbHBHMWFiSjZkOGFKMEZwMXVTYTA9Ci0tLS0tRU5EIENFUlRJ' +
  'RklDQVRFIFJFUVVFU1QtLS0tLQo='

const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const api = 'rbac.authorization.k8s.io/v1'
const rbac = `/apis/${api}`
const as = (user: string) => ({ 'impersonate-user': user })

function request(name: string, csr: string, signerName: string, spec: object = {}): object {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: { request: csr, signerName, usages: ['client auth', 'digital signature'], ...spec },
  }
}
const post = (p: string, body: object, h?: Step['h']): Step => ({
  m: 'POST',
  p,
  b: JSON.stringify(body),
  ...(h ? { h } : {}),
})
const merge = (p: string, body: object, h: Step['h'] = {}): Step => ({
  m: 'PATCH',
  p,
  b: JSON.stringify(body),
  h: { 'content-type': 'application/merge-patch+json', ...h },
})
const approve = { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'r', message: 'm' }] } }
const clusterRole = (name: string, rules: object[]): Step =>
  post(`${rbac}/clusterroles`, { apiVersion: api, kind: 'ClusterRole', metadata: { name }, rules })
const bind = (name: string, role: string, user: string): Step =>
  post(`${rbac}/clusterrolebindings`, {
    apiVersion: api,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }],
  })

export function certificateRequests(): readonly Case[] {
  const client = 'kubernetes.io/kube-apiserver-client'
  const writes = { apiGroups: ['certificates.k8s.io'], resources: ['*'], verbs: ['*'] }
  return [
    {
      name: 'certificate requests',
      steps: [
        post(path, request('$NS-a', JANE, client)),
        post(path, request('$NS-b', MASTERS, client)),
        post(path, request('$NS-c', MASTERS, 'example.com/x')),
        post(path, request('$NS-d', NODE, 'kubernetes.io/kube-apiserver-client-kubelet')),
        post(
          path,
          request('$NS-e', JANE, client, {
            username: 'forged',
            groups: ['system:masters'],
            uid: 'u',
            extra: { k: ['v'] },
          }),
        ),
        clusterRole('$NS-csr', [writes]),
        bind('$NS-u', '$NS-csr', '$NS-u'),
        post(path, request('$NS-f', JANE, client), as('$NS-u')),
        merge(`${path}/$NS-a/approval`, approve, as('$NS-u')),
        merge(`${path}/$NS-a/status`, { status: { certificate: 'eA==' } }, as('$NS-u')),
        merge(`${path}/$NS-a/status`, { status: { conditions: [{ type: 'Failed', status: 'True' }] } }, as('$NS-u')),
        clusterRole('$NS-signer', [
          {
            apiGroups: ['certificates.k8s.io'],
            resources: ['signers'],
            resourceNames: ['kubernetes.io/*'],
            verbs: ['approve'],
          },
        ]),
        bind('$NS-s', '$NS-signer', '$NS-u'),
        merge(`${path}/$NS-a/approval`, { status: { conditions: [{ type: 'Denied', status: 'True' }] } }),
        merge(`${path}/$NS-a`, { metadata: { labels: { a: 'b' } }, spec: { username: 'x' } }),
        merge(`${path}/$NS-f/approval`, { status: { conditions: [{ type: 'Denied', status: 'True', reason: 'no' }] } }),
        merge(`${path}/$NS-e/status`, { status: { conditions: [{ type: 'Approved', status: 'True' }] } }),
        ...['a', 'b', 'c', 'd', 'e', 'f'].map((name): Step => ({ m: 'DELETE', p: `${path}/$NS-${name}` })),
        { m: 'DELETE', p: `${rbac}/clusterrolebindings/$NS-u` },
        { m: 'DELETE', p: `${rbac}/clusterrolebindings/$NS-s` },
        { m: 'DELETE', p: `${rbac}/clusterroles/$NS-csr` },
        { m: 'DELETE', p: `${rbac}/clusterroles/$NS-signer` },
      ],
    },
  ]
}
