/** Certificate requests whose subject is to say one thing to who signs, and another to who believes the certificate. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { certificateRequestParts } from '../../src/api/validation/certificate-request.ts'
import { certificateIdentity } from '../../src/apiserver/auth/x509.ts'
import { type Der, der, objectIdentifier, sequence, set, utf8String } from '../../src/base/der.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { issue, issueForRequest } from '../../src/cluster/certificate.ts'
import { COMMON_NAME, ORGANIZATION, requestOf } from './certificate-request.ts'

const runtime = liveRuntime()
const authority = issue(runtime, { commonName: 'kubernetes', usage: 'ca', validDays: 1 })

const group = (value: Der) => set(sequence(ORGANIZATION, value))
const name = (value: string) => set(sequence(COMMON_NAME, utf8String(value)))
const ofNodes = group(utf8String('system:nodes'))
const me = name('system:node:me')
const masters = 'system:masters'
/** BER: of no length, to an end of its own. */
const endless = (tag: number, ...contents: readonly Uint8Array[]): Der =>
  Buffer.concat([Buffer.from([tag, 0x80]), ...contents, Buffer.alloc(2)])
const bmp = der(0x1e, Buffer.from(masters, 'utf16le').swap16())
const universal = der(0x1c, Buffer.from([...masters].flatMap((c) => [0, 0, 0, c.charCodeAt(0)])))
const pieces = [utf8String('system:'), utf8String('masters')]

/** Whom the signer finds named, and whom the API server takes the certificate's owner for; undefined: nothing is signed. */
function readings(subject: Der) {
  const parts = certificateRequestParts(requestOf(subject))
  if (parts === undefined) return undefined
  const usages = ['client auth', 'digital signature']
  const certificate = new X509Certificate(issueForRequest(runtime, { ...parts, usages, validSeconds: 600 }, authority))
  const user = certificateIdentity(certificate.raw)?.user
  return { told: [parts.commonName, ...parts.organizations], believed: user && [user.name, ...user.groups] }
}

test('of a node’s request everybody reads the same', () => {
  const node = ['system:node:me', 'system:nodes']
  assert.deepEqual(readings(sequence(ofNodes, me)), { told: node, believed: node })
})

test('what is certified of a subject stands as Kubernetes writes it; a uid that was asked for does not', () => {
  const attribute = (type: string, ...values: readonly Der[]) =>
    set(...values.map((value) => sequence(objectIdentifier(type), value)))
  const asked = sequence(
    attribute('1.3.6.1.4.1.57683.2', utf8String('uid-of-another')),
    attribute('0.9.2342.19200300.100.1.1', utf8String('5')),
    name('jane'),
    attribute('2.5.4.5', der(0x13, Buffer.from('7'))),
    attribute('2.5.4.6', utf8String('DE')),
    group(utf8String('ops')),
    group(utf8String('dev_1')),
    attribute('2.5.4.11', utf8String('b'), utf8String('a')),
  )
  const parts = certificateRequestParts(requestOf(asked))
  assert.deepEqual(parts && [parts.commonName, ...parts.organizations], ['jane', 'ops', 'dev_1'])
  const printable = (text: string) => der(0x13, Buffer.from(text))
  const one = (type: Der | string, value: Der) =>
    sequence(typeof type === 'string' ? objectIdentifier(type) : type, value)
  assert.deepEqual(
    Buffer.from(parts?.subject ?? []),
    sequence(
      set(one('2.5.4.6', printable('DE'))),
      set(one(ORGANIZATION, printable('ops')), one(ORGANIZATION, utf8String('dev_1'))),
      set(one('2.5.4.11', printable('a')), one('2.5.4.11', printable('b'))),
      set(one(COMMON_NAME, printable('jane'))),
      set(one('2.5.4.5', printable('7'))),
    ),
  )
  assert.deepEqual(readings(asked)?.believed, ['jane', 'ops', 'dev_1'])
})

test('a request for a great many organizations holds nothing up', () => {
  const most = 120_000
  const asked = der(0x30, Buffer.concat(Array.from({ length: most }, () => group(utf8String('ops')))))
  const began = performance.now()
  assert.equal(certificateRequestParts(requestOf(asked))?.organizations.length, most)
  assert.ok(performance.now() - began < 8000)
})

const twofold: Readonly<Record<string, readonly [subject: Der, read: readonly string[] | undefined]>> = {
  'of two names the one is a controller’s': [
    sequence(ofNodes, name('system:kube-controller-manager'), me),
    ['system:node:me', 'system:nodes'],
  ],
  'two names in one set': [
    sequence(
      ofNodes,
      set(
        sequence(COMMON_NAME, utf8String('system:kube-scheduler')),
        sequence(COMMON_NAME, utf8String('system:node:me')),
      ),
    ),
    ['system:node:me', 'system:nodes'],
  ],
  'a set without a length': [
    sequence(ofNodes, me, endless(0x31, sequence(ORGANIZATION, utf8String(masters)))),
    undefined,
  ],
  'an attribute without a length': [
    sequence(ofNodes, me, set(endless(0x30, ORGANIZATION, utf8String(masters)))),
    undefined,
  ],
  'a group in pieces': [sequence(ofNodes, me, group(der(0x2c, ...pieces))), undefined],
  'a group in pieces without a length': [sequence(ofNodes, me, group(endless(0x2c, ...pieces))), undefined],
  'a group of two bytes a letter': [sequence(group(bmp), name('jane')), ['jane', masters]],
  'a group of four bytes a letter': [sequence(group(universal), name('jane')), undefined],
  'a group in a teletex string': [sequence(group(der(0x14, Buffer.from(masters))), name('jane')), ['jane', masters]],
  'a group that is no text': [sequence(group(der(0x0c, Buffer.from([0xff, 0xfe]))), name('jane')), undefined],
  'a length longer than it need be': [
    sequence(ofNodes, me, Buffer.concat([Buffer.from([0x31, 0x81, 0x02, 0x30, 0x00])])),
    undefined,
  ],
}

for (const [what, [subject, read]] of Object.entries(twofold))
  test(`a subject has one reading or none: ${what}`, () => {
    const found = readings(subject)
    assert.deepEqual(found, read && { told: read, believed: read })
  })

test('what stands after a request, or before it, is not passed over', () => {
  const honest = Buffer.from(requestOf(sequence(ofNodes, me)), 'base64').toString()
  const other = Buffer.from(requestOf(sequence(group(utf8String(masters)), me)), 'base64').toString()
  const read = (text: string) => certificateRequestParts(Buffer.from(text).toString('base64'))?.organizations
  assert.deepEqual(read(honest + other), ['system:nodes'])
  assert.equal(read(other.replaceAll('CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST') + honest), undefined)
  const [, body = ''] = /-----\n(.*)\n-----/.exec(honest) ?? []
  const longer = Buffer.concat([Buffer.from(body, 'base64'), Buffer.from([5, 0])]).toString('base64')
  assert.equal(read(honest.replace(body, longer)), undefined)
})
