import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ImageVolumes, imagesMountedBy, pullImageVolumes } from './image-volumes.ts'
import type { Container, Pod } from './pod.ts'
import { StartContainerError } from './sync-error.ts'

const mounts = (...names: string[]) =>
  ({ name: 'c', image: 'i', volumeMounts: names.map((name) => ({ name, mountPath: `/${name}` })) }) as Container
const pod: Pod = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p' },
  spec: {
    containers: [mounts('there', 'gone')],
    volumes: [
      { name: 'there', image: { reference: 'there:1', pullPolicy: 'Always' } },
      { name: 'gone', image: { reference: 'gone:1' } },
      { name: 'empty', emptyDir: {} },
    ],
  },
}

async function pulled() {
  const asked: object[] = []
  const images = {
    async ensure(_: Pod, wanted: { readonly image: string }) {
      asked.push(wanted)
      if (wanted.image === 'gone:1') throw new StartContainerError('ErrImagePull', 'no such image')
      return `id of ${wanted.image}`
    },
    forget: () => {},
  }
  return { asked, volumes: await pullImageVolumes(images, pod, new AbortController().signal) }
}

test('images that are volumes are brought here for the whole pod, each by its own policy', async () => {
  const { asked, volumes } = await pulled()
  assert.deepEqual(asked, [
    { image: 'there:1', policy: 'Always' },
    { image: 'gone:1', policy: undefined },
  ])
  assert.deepEqual(volumes.get('there'), { id: 'id of there:1', reference: 'there:1' })
})

test('one that is not there keeps only those back that mount it, for the reason of the pull', async () => {
  const { volumes } = await pulled()
  const told: unknown[] = []
  const events = { normal: () => {}, about: () => {}, warning: (...said: unknown[]) => void told.push(said.slice(1)) }
  const mounted = (container: Container, all: ImageVolumes = volumes) => imagesMountedBy(pod, container, all, events)
  assert.deepEqual([...mounted(mounts('there', 'empty'))], [['there', { id: 'id of there:1', reference: 'there:1' }]])
  assert.deepEqual(told, [])
  assert.throws(() => mounted(mounts('there', 'gone')), { reason: 'ErrImagePull', message: 'no such image' })
  assert.deepEqual(told, [['Failed', 'Error: ErrImagePull', 'spec.containers{c}']])
})
