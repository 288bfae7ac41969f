import assert from 'node:assert/strict'
import { test } from 'node:test'
import { containerdConfig } from '../../kubelet/machine/own-containerd.ts'
import { resolvConfFor } from './start-nodes.ts'

test('name servers on the loopback are replaced by the cluster’s, others stay with all that is said besides', () => {
  assert.equal(
    resolvConfFor('nameserver 127.0.0.53\noptions edns0\nsearch lan\n', '10.244.0.1'),
    'nameserver 10.244.0.1\noptions edns0\nsearch lan\n',
  )
  const whole = 'search lan\nnameserver 192.0.2.1\nnameserver 2001:db8::1\n'
  assert.equal(resolvConfFor(`${whole}nameserver ::1\n`, '10.244.0.1'), whole)
  assert.equal(resolvConfFor('', '10.244.0.1'), 'nameserver 10.244.0.1\n')
})

test('a further containerd is like the machine’s, but for its directories', () => {
  const manner = { snapshotter: 'native', restrictOOMScoreAdj: true }
  const like = { pluginDirectory: '/usr/lib/cni', sandboxImage: 'pause:1', manner }
  const text = containerdConfig('/data/"n"/containerd', '/data/cni', like)
  assert.match(text, /^root = "\/data\/\\"n\\"\/containerd"$/m)
  assert.match(text, /^snapshotter = "native"$/m)
  assert.match(text, /^restrict_oom_score_adj = true$/m)
  assert.match(text, /^conf_dir = "\/data\/cni"$/m)
  assert.doesNotMatch(text, /undefined|disable_apparmor/)
})
