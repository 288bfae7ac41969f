import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { liveRuntime } from '../base/live-runtime.ts'
import type { Client } from '../client/client.ts'
import { issue } from '../cluster/certificate.ts'
import { parseFlags } from './flags.ts'
import { KUBELET_FLAGS } from './kubelet-configuration/settings.ts'
import { settledKubelet } from './kubelet-configuration/settle.ts'
import { serveKubelet } from './kubelet-server.ts'

test('a kubelet whose read-only port is taken answers logs and exec all the same', async (t) => {
  const runtime = liveRuntime({ log: { write: () => {} } })
  const directory = mkdtempSync(join(tmpdir(), 'skiff-kubelet-server-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const authority = join(directory, 'ca.crt')
  writeFileSync(authority, issue(runtime, { commonName: 'authority', usage: 'ca', validDays: 1 }).cert)
  const other = createServer().listen(0, '127.0.0.1')
  t.after(() => other.close())
  await once(other, 'listening')
  const args = [
    ...['--node-ip=127.0.0.1', '--port=0', `--client-ca-file=${authority}`],
    `--read-only-port=${(other.address() as AddressInfo).port}`,
  ]
  const flags = settledKubelet(parseFlags('kubelet', KUBELET_FLAGS, args), () => {})
  const stopping = new AbortController()
  t.after(() => stopping.abort())
  const said: string[] = []
  const { server } = await serveKubelet(flags, {
    ...{ runtime, client: {} as Client, nodeName: 'n', server: 'https://127.0.0.1:1', otherwise: '127.0.0.1' },
    ...{ kubelet: () => undefined, say: (line) => said.push(line), signal: stopping.signal },
  })
  t.after(() => server?.stop(0))
  assert.deepEqual(said, [])
  assert.ok(server !== undefined && server.port > 0)
})
