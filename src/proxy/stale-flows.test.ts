import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServedEndpoint, ServedPort } from './service-port.ts'
import { askedOf, forgetArguments, listArguments, parseFlows, staleFlows } from './stale-flows.ts'

const LINES = `udp      17 27 src=10.244.0.2 dst=10.96.0.10 sport=4444 dport=53 src=10.244.0.5 dst=10.244.0.2 sport=53 dport=4444 [ASSURED] mark=0 use=1
udp      17 20 src=10.244.0.3 dst=10.96.0.10 sport=5555 dport=53 [UNREPLIED] src=10.244.0.6 dst=10.244.0.3 sport=53 dport=5555 mark=0 use=1
udp      17 20 src=10.0.0.9 dst=10.244.0.1 sport=6666 dport=30053 [UNREPLIED] src=10.244.0.1 dst=10.0.0.9 sport=30053 dport=6666 mark=0 use=1
udp      17 20 src=10.244.0.3 dst=8.8.8.8 sport=5555 dport=53 src=8.8.8.8 dst=10.244.0.3 sport=53 dport=5555 mark=0 use=1
conntrack v1.4.7 (conntrack-tools): 4 flow entries have been shown.
`
const endpoint = (address: string, serving: boolean): ServedEndpoint => ({
  ...{
    address,
    port: 53,
    ready: serving,
    serving,
    terminating: !serving,
    nodeName: 'here',
    forZones: [],
    forNodes: [],
  },
})
const dns: ServedPort = {
  ...{ key: 'kube-system/kube-dns:dns', protocol: 'udp', port: 53, clusterIP: '10.96.0.10', nodePort: 30053 },
  ...{ externalIPs: [], loadBalancerIPs: [], sourceRanges: undefined, affinity: undefined },
  ...{ internalLocal: false, externalLocal: false },
  endpoints: [endpoint('10.244.0.5', true), endpoint('10.244.0.6', false)],
}

test('flows to former endpoints are forgotten, and those that came before there was a rule; others never', () => {
  const stale = staleFlows(parseFlows(LINES), askedOf(dns, ['10.244.0.1']))
  assert.deepEqual(
    stale.map(({ address, port, answerer }) => [address, port, answerer]),
    [
      ['10.96.0.10', 53, '10.244.0.6'],
      ['10.244.0.1', 30053, '10.244.0.1'],
    ],
  )
  assert.equal(
    forgetArguments(stale[0] ?? assert.fail(), 'IPv4').join(' '),
    '-D -f ipv4 -p udp -s 10.244.0.3 -d 10.96.0.10 --sport 5555 --dport 53',
  )
})

test('lines that are none of the kind are passed over', () => {
  assert.deepEqual(parseFlows('udp src=x dst=y sport=1 dport=2 src=z dst=w sport=3 dport=4\n\nnonsense'), [])
})

test('flows of IPv6 too, however their addresses are spelled', () => {
  const line =
    'udp      17 27 src=fd00:10:244::2 dst=fd00:10:96:0:0:0:0:a sport=4444 dport=53 src=fd00:10:244::6 dst=fd00:10:244::2 sport=53 dport=4444 mark=0 use=1\n'
  const six = { ...dns, clusterIP: 'fd00:10:96::a', endpoints: [endpoint('fd00:10:244::5', true)] }
  const [stale] = staleFlows(parseFlows(line), askedOf(six, []))
  assert.equal(
    forgetArguments(stale ?? assert.fail(), 'IPv6').join(' '),
    '-D -f ipv6 -p udp -s fd00:10:244::2 -d fd00:10:96::a --sport 4444 --dport 53',
  )
  assert.deepEqual(listArguments('IPv6'), ['-L', '-f', 'ipv6', '-p', 'udp'])
  const kept = { ...six, endpoints: [endpoint('fd00:10:244::6', true)] }
  assert.deepEqual(staleFlows(parseFlows(line), askedOf(kept, [])), [])
})
