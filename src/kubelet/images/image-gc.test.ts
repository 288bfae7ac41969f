import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { createPodAddresses, podCIDROf } from '../pod-addresses.ts'
import type { RuntimeImage } from '../runtimes/runtime.ts'
import { createSimulatedRuntime } from '../runtimes/simulated/simulated-runtime.ts'
import { createImageGc, DEFAULT_IMAGE_GC, type ImageGcPolicy, imageGcPolicy } from './image-gc.ts'
import { notingPulls, type PulledImages, pulledImages } from './pulled-images.ts'

const MINUTE = 60_000

/** A disk of 1,000 bytes of which others than images have `others`. */
function disk(ids: readonly string[], policy: Partial<ImageGcPolicy> = {}, others = 0) {
  const runtime = simulatedRuntime(1)
  let images: readonly RuntimeImage[] = ids.map((id) => ({ id, names: [`${id}:1`], size: 100 }))
  const used = new Set<string>()
  const foreign = new Set<string>()
  const told: string[] = []
  const state = { capacity: 1000, failing: undefined as string | undefined }
  const pulled: PulledImages = {
    ids: () => ids.filter((id) => !foreign.has(id)),
    has: (id) => !foreign.has(id),
    add: () => {},
    delete: (id) => void foreign.add(id),
  }
  const gc = createImageGc({
    runtime,
    pulled,
    policy: { ...DEFAULT_IMAGE_GC, ...policy },
    warn: (reason, message) => void told.push(`${reason}: ${message}`),
    fileSystem: async () => ({
      capacityBytes: state.capacity,
      availableBytes: state.capacity - others - images.length * 100,
      freeBytes: state.capacity - others - images.length * 100,
      inodes: 1,
      inodesFree: 1,
    }),
    images: {
      listImages: async () => images,
      imagesInUse: async () => used,
      async removeImage(id) {
        if (id === state.failing) throw new Error(`${id} is busy`)
        images = images.filter((one) => one.id !== id)
      },
    },
  })
  return {
    setImages(ids: readonly string[]) {
      images = ids.map((id) => ({ id, names: [`${id}:1`], size: 100 }))
    },
    runtime,
    gc,
    used,
    foreign,
    told,
    state,
    collect: () => runtime.complete(gc.collect()),
    there: () => images.map(({ id }) => id),
  }
}

const reasonsOf = (told: readonly string[]) => told.map((text) => text.replace(/:.*/s, ''))

const NINE = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']

test('above the high threshold the longest unused go, until the low one is reached', async () => {
  const { runtime, collect, there, used, told } = disk(NINE)
  used.add('a').add('b:1').add('c')
  await collect()
  assert.deepEqual(there(), NINE)
  await runtime.advance(MINUTE)
  used.clear()
  for (const id of ['b', 'd', 'e', 'f', 'g', 'h', 'i']) used.add(id)
  await collect()
  assert.deepEqual(there(), NINE)
  await runtime.advance(MINUTE)
  await collect()
  // Of the two that no container uses one is enough.
  assert.equal(there().length, 8)
  assert.ok(['a', 'c'].some((id) => !there().includes(id)))
  assert.deepEqual(reasonsOf(told), ['FreeDiskSpaceFailed', 'FreeDiskSpaceFailed', 'ImageGCFailed'])
})

test('what is younger than the minimum age, in use, pinned or of other users stays', async () => {
  const { runtime, collect, there, used, foreign, told } = disk(NINE)
  used.add('a')
  for (const id of NINE.slice(1)) foreign.add(id)
  await collect()
  await runtime.advance(2 * MINUTE)
  await collect()
  assert.deepEqual(there(), NINE)
  assert.equal(
    told[0],
    "FreeDiskSpaceFailed: Insufficient free disk space on the node's image filesystem (90% of 1000 B used). Failed to free sufficient space by deleting unused images (freed 0 bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data.",
  )
  foreign.clear()
  await collect()
  assert.equal(there().length, 8)
})

test('below the high threshold nothing goes but what has been unused for longer than the maximum age', async () => {
  const { runtime, collect, there, used } = disk(['a', 'b', 'c'], { imageMaximumGCAgeMs: 10 * MINUTE })
  used.add('b')
  await collect()
  await runtime.advance(9 * MINUTE)
  await collect()
  used.clear()
  await runtime.advance(2 * MINUTE)
  await collect()
  assert.deepEqual(there(), ['b'])
  await runtime.advance(9 * MINUTE)
  await collect()
  assert.deepEqual(there(), [])
})

test('it begins at once and goes on every five minutes; that it goes on failing is told', async () => {
  const { runtime, gc, told, state, there } = disk(NINE)
  state.failing = 'a'
  const stopping = new AbortController()
  gc.run(stopping.signal)
  await runtime.advance(5 * MINUTE - 1)
  assert.deepEqual(there(), NINE)
  assert.deepEqual(reasonsOf(told), ['FreeDiskSpaceFailed'])
  await runtime.advance(2)
  assert.equal(there().length, 8)
  state.failing = undefined
  state.capacity = 0
  await runtime.advance(10 * MINUTE)
  // The second failure in a row is told, and those after it.
  assert.deepEqual(reasonsOf(told).slice(1), [
    'ImageGCFailed',
    'InvalidDiskCapacity',
    'ImageGCFailed',
    'InvalidDiskCapacity',
    'ImageGCFailed',
  ])
  stopping.abort()
})

test('under pressure all goes that may, whatever room there is', async () => {
  const { runtime, gc, there, used } = disk(['a', 'b', 'c'])
  used.add('b')
  await runtime.complete(gc.deleteUnused())
  assert.equal(there().length, 3)
  await runtime.advance(2 * MINUTE)
  await runtime.complete(gc.deleteUnused())
  assert.deepEqual(there(), ['b'])
})

test('an image that others removed, and that is there again later, is theirs', async () => {
  const { runtime, gc, collect, setImages, there } = disk(['a', 'b'])
  await collect()
  setImages(['b'])
  await collect()
  setImages(['a', 'b'])
  await collect()
  await runtime.advance(5 * MINUTE)
  await runtime.complete(gc.deleteUnused())
  assert.deepEqual(there(), ['a'])
})

test('what this node pulled is still known to one that starts anew; what was there before is not its own', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'skiff-pulled-'))
  const file = join(directory, 'pulled.json')
  const there = new Map([['there:1', 'sha256:1']])
  const runtime = simulatedRuntime(1)
  const plain = createSimulatedRuntime(runtime, createPodAddresses(podCIDROf(0)))
  const noting = notingPulls(
    {
      ...plain,
      async pullImage(image) {
        const id = image.startsWith('there') ? 'sha256:1' : `sha256:of-${image}`
        there.set(image, id)
        return { id }
      },
      imageStatus: async (image) => (there.has(image) ? { id: there.get(image)!, size: 1 } : undefined),
      listImages: async () => [...there].map(([name, id]) => ({ id, names: [name], size: 1 })),
    },
    pulledImages(file),
  )
  const { signal } = new AbortController()
  for (const image of ['new:1', 'there:1', 'there:2']) await noting.pullImage(image, {}, signal)
  const again = pulledImages(file)
  assert.deepEqual(
    ['sha256:of-new:1', 'sha256:1'].map((id) => again.has(id)),
    [true, false],
  )
  again.delete('sha256:of-new:1')
  assert.equal(pulledImages(file).has('sha256:of-new:1'), false)
  writeFileSync(file, '{ half')
  assert.equal(pulledImages(file).has('sha256:of-new:1'), false)
  rmSync(directory, { recursive: true })
})

test('what is chosen is told where it makes no sense', () => {
  assert.deepEqual(imageGcPolicy(), DEFAULT_IMAGE_GC)
  assert.equal(imageGcPolicy({ imageMaximumGCAgeMs: 3_600_000 }).imageMaximumGCAgeMs, 3_600_000)
  assert.throws(() => imageGcPolicy({ imageGCHighThresholdPercent: 80 }), /low-threshold: 80 must be less than/)
  assert.throws(() => imageGcPolicy({ imageMaximumGCAgeMs: 60_000 }), /must be more than --minimum-image-ttl-duration/)
  assert.throws(() => imageGcPolicy({ imageGCLowThresholdPercent: 1.5 }), /--image-gc-low-threshold: 1.5 is no/)
})
