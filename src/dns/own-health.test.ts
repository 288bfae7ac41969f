import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { dnsMetrics, serveDnsHealth } from './own-health.ts'

test('the DNS counts what it answers, and tells of its health', async () => {
  const port = await new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = server.address() as { port: number }
      server.close(() => resolve(free))
    })
  })
  const metrics = dnsMetrics()
  const end = await serveDnsHealth(simulatedRuntime(1), ['127.0.0.1'], metrics, port)
  metrics.answered('udp', Uint8Array.from([0, 1, 0x84, 0x80]), 0.001)
  metrics.answered('tcp', Uint8Array.from([0, 1, 0x84, 0x83]), 0.002)
  const asked = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })
    return response.status === 200 ? response.text() : response.status
  }
  const text = String(await asked('/metrics'))
  assert.match(text, /^coredns_dns_requests_total\{proto="udp"\} 1$/m)
  assert.match(text, /^coredns_dns_responses_total\{rcode="NXDOMAIN"\} 1$/m)
  assert.match(text, /^coredns_dns_request_duration_seconds_count 2$/m)
  assert.deepEqual([await asked('/health'), await asked('/ready'), await asked('/other')], ['OK', 'OK', 404])
  await end()
  await assert.rejects(asked('/health'))
})
