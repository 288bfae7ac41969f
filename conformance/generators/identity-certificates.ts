/** Certificates as identities: who asked, who approves and who signs, each with his own token and some of the rights. */
import type { Case, Step } from '../recording.ts'
import { JANE, MASTERS, NODE } from './certificate-requests.ts'
import { type Any, get, merge, post, put, remove } from './definitions.ts'
import { account, by, grantedEverywhere, rule, token, tokenOf, withdrawn } from './identity-parts.ts'

const GROUP = 'certificates.k8s.io'
const path = `/apis/${GROUP}/v1/certificatesigningrequests`
const CLIENT = 'kubernetes.io/kube-apiserver-client'

const csr = (name: string, request: string, signerName: string, spec: Any = {}): Any => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'CertificateSigningRequest',
  metadata: { name },
  spec: { request, signerName, usages: ['client auth'], ...spec },
})
const asks = (name: string, request: string, signerName: string, spec: Any = {}): Step =>
  post(path, csr(`$NS-${name}`, request, signerName, spec))
const condition = (type: string, status = 'True', more: Any = {}): Any => ({ type, status, reason: 'r', ...more })
/** With its times said: left out, they are those of the moment, and whether the write changes anything depends on it. */
const timed = (type: string): Any =>
  condition(type, 'True', { lastUpdateTime: '2026-01-01T00:00:00Z', lastTransitionTime: '2026-01-01T00:00:01Z' })
const approval = (name: string, ...conditions: Any[]): Step =>
  merge(`${path}/$NS-${name}/approval`, { status: { conditions } })
const signed = (name: string, status: Any): Step => merge(`${path}/$NS-${name}/status`, { status })
const gone = (...names: string[]): readonly Step[] => names.map((name) => remove(`${path}/$NS-${name}`))
const signer = (verb: string, names: string) => rule(verb, 'signers', GROUP, names)
const encoded = (text: string) => Buffer.from(text).toString('base64')

export function identityCertificates(): readonly Case[] {
  return [
    {
      name: 'certificates: what may be asked for',
      steps: [
        asks('a', JANE, CLIENT, { expirationSeconds: 599 }),
        asks('a', JANE, CLIENT, { expirationSeconds: 600 }),
        asks('b', JANE, CLIENT, { expirationSeconds: 0 }),
        asks('c', JANE, CLIENT, { expirationSeconds: 2147483648 }),
        asks('d', JANE, CLIENT, { usages: [] }),
        asks('e', JANE, CLIENT, { usages: ['client auth', 'client auth'] }),
        asks('f', JANE, CLIENT, { usages: ['everything'] }),
        asks('g', JANE, ''),
        asks('h', JANE, 'kubernetes.io/legacy-unknown'),
        asks('i', JANE, 'nodomain'),
        asks('j', JANE, 'example.com/'),
        asks('k', JANE, 'example.com/a/b'),
        asks('l', JANE, 'Example.com/a'),
        asks('m', JANE, 'example.com/A'),
        asks('n', JANE, 'example.com/*'),
        asks('o', '', CLIENT),
        asks('p', encoded('nonsense'), CLIENT),
        asks('q', 'not base64!', CLIENT),
        asks('r', encoded('-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n'), CLIENT),
        asks('s', encoded('-----BEGIN CERTIFICATE REQUEST-----\nYQ==\n-----END CERTIFICATE REQUEST-----\n'), CLIENT),
        asks('t', MASTERS, CLIENT),
        asks('u', MASTERS, 'kubernetes.io/kubelet-serving'),
        asks('v', NODE, 'kubernetes.io/kube-apiserver-client-kubelet', {
          usages: ['digital signature', 'client auth'],
        }),
        asks('w', JANE, 'kubernetes.io/anything-new'),
        asks('x', JANE, CLIENT, { username: 'forged', uid: 'u', groups: ['system:masters'], extra: { a: ['b'] } }),
        { ...asks('y', JANE, CLIENT), h: { 'impersonate-user': 'system:serviceaccount:$NS:default' } },
        {
          ...asks('z', JANE, CLIENT),
          h: {
            'impersonate-user': 'jane',
            'impersonate-group': ['system:masters', 'dev'],
            'impersonate-uid': '7',
            'impersonate-extra-example.com%2fa': ['1', '2'],
          },
        },
        post(`${path}?dryRun=All`, csr('$NS-dry', JANE, CLIENT)),
        post(path, {
          ...csr('$NS-st', JANE, CLIENT),
          status: { conditions: [condition('Approved')], certificate: 'eA==' },
        }),
        ...gone('a', 'b', 'h', 'k', 'w', 'x', 'z', 'st', 'u', 'v', 'c', 'm'),
      ],
    },
    {
      name: 'certificates: who may approve and who may sign',
      steps: [
        account('asker'),
        account('approver'),
        account('signer'),
        tokenOf('asker', {}),
        tokenOf('approver', {}),
        tokenOf('signer', {}),
        ...grantedEverywhere(['account:asker'], [rule('create,get', 'certificatesigningrequests', GROUP)], '$NS-asker'),
        ...grantedEverywhere(
          ['account:approver'],
          [
            rule('get,patch,update', 'certificatesigningrequests,certificatesigningrequests/approval', GROUP),
            signer('approve', 'example.com/*,example.org/one'),
          ],
          '$NS-approver',
        ),
        ...grantedEverywhere(
          ['account:signer'],
          [rule('get,patch,update', 'certificatesigningrequests/status', GROUP), signer('sign', 'example.com/mine')],
          '$NS-signer',
        ),
        { ...by(token(3), asks('a', JANE, 'example.com/mine')), settle: true },
        by(token(3), asks('b', JANE, 'example.org/one')),
        by(token(3), asks('c', JANE, 'example.org/two')),
        by(token(3), asks('d', MASTERS, CLIENT)),
        by(token(4), asks('e', JANE, 'example.com/mine')),
        by(token(3), approval('a', condition('Approved'))),
        by(token(5), approval('a', condition('Approved'))),
        by(token(5), signed('a', { certificate: encoded('x') })),
        by(token(4), approval('a', condition('Approved'))),
        by(token(4), approval('b', condition('Denied'))),
        by(token(4), approval('c', condition('Approved'))),
        by(token(4), approval('a', condition('Approved'), condition('Denied'))),
        by(token(4), approval('a')),
        by(token(4), approval('a', condition('Approved', 'False'))),
        by(token(4), approval('b', condition('Denied'), condition('Approved'))),
        by(token(4), approval('a', condition('Approved'), condition('Failed'))),
        by(token(4), approval('a', condition('Approved'), condition('Mine', 'Unknown'))),
        by(token(4), approval('a', condition('Approved'), condition(''))),
        by(token(4), approval('a', condition('Approved'), condition('Mine'), condition('Mine'))),
        by(token(4), merge(`${path}/$NS-a/approval`, { status: { certificate: encoded('x') } })),
        by(token(4), merge(`${path}/$NS-a`, { spec: { signerName: 'example.com/other' } })),
        by(token(4), merge(`${path}/$NS-a`, { status: { certificate: encoded('x') } })),
        by(token(4), signed('a', { certificate: encoded('x') })),
        by(token(5), signed('b', { certificate: encoded('x') })),
        by(token(5), signed('a', { certificate: encoded('nonsense') })),
        by(
          token(5),
          signed('a', { certificate: encoded('-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n') }),
        ),
        by(token(5), signed('a', { conditions: [timed('Approved'), timed('Failed')] })),
        by(token(5), signed('a', { conditions: [condition('Failed')] })),
        by(token(5), get(`${path}/$NS-a/status`)),
        by(token(5), get(`${path}/$NS-a`)),
        by(token(3), put(`${path}/$NS-a`, csr('$NS-a', NODE, 'example.com/mine'))),
        get(`${path}/$NS-a`),
        ...gone('a', 'b', 'c', 'd'),
        ...withdrawn('$NS-asker'),
        ...withdrawn('$NS-approver'),
        ...withdrawn('$NS-signer'),
      ],
    },
  ]
}
