import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDump } from './containerd-configuration.ts'

test('the image of sandboxes, the snapshotter and the registries are read from containerd’s own telling', () => {
  const dump = `version = 4
root = '/var/lib/containerd'

[plugins]
  [plugins.'io.containerd.cri.v1.images']
    snapshotter = 'overlayfs'

    [plugins.'io.containerd.cri.v1.images'.pinned_images]
      sandbox = 'registry.k8s.io/pause:3.10.2'

    [plugins.'io.containerd.cri.v1.images'.registry]
      config_path = '/etc/containerd/certs.d'

  [plugins.'io.containerd.cri.v1.runtime']
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
      snapshotter = 'native'
      sandbox = 'another'
`
  assert.deepEqual(readDump(dump), {
    sandboxImage: 'registry.k8s.io/pause:3.10.2',
    snapshotter: 'overlayfs',
    registryConfigPath: '/etc/containerd/certs.d',
  })
  assert.deepEqual(readDump(dump.replace('/etc/containerd/certs.d', '').replace("'overlayfs'", '3')), {
    sandboxImage: 'registry.k8s.io/pause:3.10.2',
  })
  assert.deepEqual(readDump(''), {})
})
