import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { issue } from './certificate.ts'
import { type IdentityFlags, loadIdentity } from './identity.ts'
import { loadPki } from './pki.ts'

describe('who an API server is', () => {
  const runtime = simulatedRuntime(1)
  const directory = mkdtempDisposableSync(join(tmpdir(), 'skiff-identity-'))
  const pki = loadPki(runtime, directory.path, '127.0.0.1', ['10.96.0.1'])
  const other = issue(runtime, { commonName: 'other', usage: 'ca', validDays: 3 })
  const file = (name: string, text: string) => {
    const path = join(directory.path, name)
    writeFileSync(path, text)
    return path
  }
  const certificate = file('other.crt', other.cert)
  const key = file('other.key', other.key)
  const refusal = async (flags: IdentityFlags) =>
    loadIdentity(flags, pki).then(
      () => 'taken',
      (error: Error) => error.message,
    )

  test('without flags it has the keys of the cluster', async () => {
    const identity = await loadIdentity({}, pki)
    assert.equal(identity.serving, pki.serving)
    assert.equal(identity.servingCa, pki.ca.cert)
    assert.deepEqual(identity.clientCas, [pki.ca.cert])
    assert.deepEqual(identity.serviceAccounts.keys, [identity.serviceAccounts.signingKey])
    assert.deepEqual(identity.trust, {
      'client-ca-file': pki.ca.cert,
      'requestheader-allowed-names': '["front-proxy-client"]',
      'requestheader-client-ca-file': pki.frontProxy.ca.cert,
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-username-headers': '["X-Remote-User"]',
    })
  })

  test('the address of its keys is by https', async () => {
    const address = (serviceAccountJwksUri: string) => refusal({ serviceAccountJwksUri })
    assert.equal(await address('https://x/y'), 'taken')
    for (const other of ['http://x', 'foo'])
      assert.equal(await address(other), `service-account-jwks-uri requires https scheme, parsed as: ${other}`)
    assert.match(await address('://'), /must be a valid URL: parse ":\/\/": missing protocol scheme$/)
  })

  test('it has what files give it', async () => {
    const identity = await loadIdentity(
      {
        tlsCertFile: certificate,
        tlsPrivateKeyFile: key,
        clientCaFile: certificate,
        requestheaderClientCaFile: certificate,
        requestheaderUsernameHeaders: ['X-User'],
      },
      pki,
    )
    assert.deepEqual(identity.serving, other)
    assert.equal(identity.servingCa, other.cert)
    assert.deepEqual(identity.clientCas, [other.cert, pki.ca.cert])
    assert.deepEqual(identity.frontProxies.allowedNames, [], 'any name, when none is given beside an authority')
    assert.deepEqual(identity.frontProxies.usernameHeaders, ['x-user'])
    assert.equal(identity.trust['requestheader-username-headers'], '["X-User"]')
  })

  test('tokens are signed with one key, and believed of every key that is named', async () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const signing = rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const verifying = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString()
    const { serviceAccounts } = await loadIdentity(
      {
        serviceAccountSigningKeyFile: file('sa.key', signing),
        serviceAccountKeyFile: [file('sa.pub', `${verifying}${other.cert}`)],
        serviceAccountIssuer: ['https://one/', 'https://two/'],
      },
      pki,
    )
    assert.deepEqual(
      serviceAccounts.keys.map(({ algorithm }) => algorithm),
      ['RS256', 'ES256'],
    )
    assert.equal(serviceAccounts.signingKey.keyId, serviceAccounts.keys[0]?.keyId)
    assert.deepEqual(serviceAccounts.issuers, ['https://one/', 'https://two/'])
  })

  test('what cannot be used is refused with where the mistake is', async () => {
    assert.equal(await refusal({ tlsCertFile: certificate }), 'missing filename for serving cert')
    assert.match(await refusal({ clientCaFile: '/nowhere' }), /^open \/nowhere: no such file or directory$/)
    assert.match(
      await refusal({ clientCaFile: key }),
      /^error loading CA bundle for "client-ca-bundle::.*other\.key": data does not contain any valid RSA or ECDSA certificates$/,
    )
    assert.match(
      await refusal({ tlsCertFile: file('own.crt', pki.ca.cert), tlsPrivateKeyFile: key }),
      /^tls: private key does not match public key$/,
    )
    assert.match(
      await refusal({ serviceAccountSigningKeyFile: key, serviceAccountKeyFile: [file('empty', '')] }),
      /does not contain any valid RSA or ECDSA/,
    )
    assert.match(await refusal({ serviceAccountKeyFile: [key] }), /are given together/)
    assert.match(await refusal({ serviceAccountIssuer: ['::x'] }), /contained a ':' but was not a valid URL/)
    assert.match(await refusal({ serviceAccountIssuer: [''] }), /cannot be an empty string/)
  })
})
