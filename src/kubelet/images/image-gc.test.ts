import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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
    owns: async ({ id }) => !foreign.has(id),
    add: async () => {},
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

/** A runtime that has images by name, and since when by id; `tells`: whether it does. */
function runtimeOfImages(tells = true) {
  const directory = mkdtempSync(join(tmpdir(), 'skiff-pulled-'))
  const file = join(directory, 'pulled.json')
  const there = new Map<string, string>()
  const since = new Map<string, number>()
  let time = 0
  const put = (name: string, id: string) => {
    there.set(name, id)
    if (!since.has(id)) since.set(id, time++)
  }
  const runtime = simulatedRuntime(1)
  const plain = createSimulatedRuntime(runtime, createPodAddresses(podCIDROf(0)))
  const started = () => pulledImages(file, async (id) => (tells ? since.get(id)?.toString() : undefined))
  const imageOf = (id: string) => ({
    ...{ id, size: 1 },
    names: [...there].flatMap(([name, one]) => (one === id ? [name] : [])),
  })
  const pulled = started()
  const noting = notingPulls(
    {
      ...plain,
      async pullImage(image) {
        const id = there.get(image) ?? `sha256:${image.split(':')[0]}`
        put(image, id)
        return { id }
      },
      imageStatus: async (image) => (there.has(image) ? { id: there.get(image)!, size: 1 } : undefined),
      listImages: async () => [...new Set(there.values())].map(imageOf),
    },
    pulled,
  )
  return {
    file,
    put,
    /** As a kubelet that starts anew knows it. */
    started,
    owned: (by: PulledImages, name: string) => by.owns(imageOf(`sha256:${name}`)),
    pulled,
    pull: (image: string) => noting.pullImage(image, {}, new AbortController().signal),
    remove(id: string) {
      for (const [name, one] of there) if (one === id) there.delete(name)
      since.delete(id)
    },
    end: () => rmSync(directory, { recursive: true }),
  }
}

test('what this node pulled is still known to one that starts anew; what was there before is not its own', async () => {
  const { file, put, started, owned, pulled, pull, end } = runtimeOfImages()
  put('there:1', 'sha256:there')
  for (const image of ['new:1', 'new:2', 'there:1', 'there:2']) await pull(image)
  for (const by of [pulled, started()])
    assert.deepEqual([await owned(by, 'new'), await owned(by, 'there')], [true, false])
  const again = started()
  again.delete('sha256:new')
  assert.deepEqual(started().ids(), [])
  for (const text of [
    '{ half',
    'null',
    '[]',
    '["sha256:new"]',
    '{"sha256:new":1}',
    '{"sha256:new":{"names":["new:1"]}}',
  ]) {
    writeFileSync(file, text)
    assert.deepEqual(started().ids(), [], text)
  }
  end()
})

test('what others removed and brought again, or gave another name, is theirs, also where no kubelet ran meanwhile', async () => {
  const { put, started, owned, pulled, pull, remove, end } = runtimeOfImages()
  for (const image of ['back:1', 'named:1', 'own:1']) await pull(image)
  remove('sha256:back')
  put('back:1', 'sha256:back')
  put('mine:1', 'sha256:named')
  for (const by of [started(), pulled])
    assert.deepEqual(await Promise.all(['back', 'named', 'own'].map((name) => owned(by, name))), [false, false, true])
  // A pull of what others have makes it no more its own.
  await pull('back:1')
  await pull('mine:1')
  assert.deepEqual(await Promise.all(['back', 'named'].map((name) => owned(started(), name))), [false, false])
  end()
})

test('of a file that was copied to another machine nothing is known there', async () => {
  const [one, other] = [runtimeOfImages(), runtimeOfImages()]
  other.put('before:1', 'sha256:before')
  await one.pull('x:1')
  other.put('x:1', 'sha256:x')
  copyFileSync(one.file, other.file)
  assert.equal(await other.owned(other.started(), 'x'), false)
  one.end()
  other.end()
})

test('where the runtime does not tell since when it has an image, those of an earlier life are not removed', async () => {
  const { started, owned, pulled, pull, end } = runtimeOfImages(false)
  await pull('x:1')
  assert.equal(await owned(pulled, 'x'), true)
  assert.equal(await owned(started(), 'x'), false)
  end()
})

test('what is chosen is told where it makes no sense', () => {
  assert.deepEqual(imageGcPolicy(), DEFAULT_IMAGE_GC)
  assert.equal(imageGcPolicy({ imageMaximumGCAgeMs: 3_600_000 }).imageMaximumGCAgeMs, 3_600_000)
  assert.throws(() => imageGcPolicy({ imageGCHighThresholdPercent: 80 }), /low-threshold: 80 must be less than/)
  assert.throws(() => imageGcPolicy({ imageMaximumGCAgeMs: 60_000 }), /must be more than --minimum-image-ttl-duration/)
  assert.throws(() => imageGcPolicy({ imageGCLowThresholdPercent: 1.5 }), /--image-gc-low-threshold: 1.5 is no/)
})
