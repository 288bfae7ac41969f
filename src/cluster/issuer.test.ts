import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { liveRuntime } from '../base/live-runtime.ts'
import { issue } from './certificate.ts'
import { readIssuer } from './issuer.ts'

const runtime = liveRuntime({ log: { write: () => {} } })
const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'ignore'] }).toString()

for (const algorithm of ['rsa:2048', 'ec'])
  test(`what an authority made by OpenSSL (${algorithm}, a subject of several parts) signs is believed by OpenSSL`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'skiff-issuer-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const at = (name: string) => join(folder, name)
    const kind = algorithm === 'ec' ? ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'] : [algorithm]
    openssl(
      ...['req', '-x509', '-newkey', ...kind, '-nodes', '-days', '2', '-subj', '/C=CH/O=Some Company/CN=its ca'],
      ...['-keyout', at('ca.key'), '-out', at('ca.crt')],
    )
    const ca = { cert: readFileSync(at('ca.crt'), 'utf8'), key: readFileSync(at('ca.key'), 'utf8') }
    const made = issue(runtime, { commonName: 'jane', usage: 'client', validDays: 1 }, ca)
    writeFileSync(at('jane.crt'), made.cert)
    assert.match(openssl('verify', '-CAfile', at('ca.crt'), at('jane.crt')), /jane\.crt: OK/)
    const other = issue(runtime, { commonName: 'other', usage: 'ca', validDays: 1 })
    assert.throws(() => readIssuer({ ...ca, key: other.key }), /the key is not the certificate's/)
  })
