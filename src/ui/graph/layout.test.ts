import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SceneObject } from '../protocol.ts'
import { layoutOf, NODE_HEIGHT, NODE_WIDTH } from './layout.ts'
import { graphOf } from './model.ts'

function forest(count: number, parentOf: (at: number) => number | undefined): ReadonlyMap<string, SceneObject> {
  const objects = new Map<string, SceneObject>()
  for (let at = 0; at < count; at++) {
    const parent = parentOf(at)
    const owners =
      parent === undefined ? [] : [{ uid: `${parent}`, kind: 'Pod', name: `${parent}`, controller: true, blocks: true }]
    const uid = `${at}`
    objects.set(uid, {
      ...{ group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespace: `n${at % 3}`, name: uid },
      ...{ uid, created: '', finalizers: [], owners },
    })
  }
  return objects
}

/** The first two nodes that lie on each other. */
function overlap(objects: ReadonlyMap<string, SceneObject>): string | undefined {
  const places = [...layoutOf(graphOf(objects)).places].toSorted(([, a], [, b]) => a.x - b.x)
  for (const [at, [uid, a]] of places.entries())
    for (const [other, b] of places.slice(at + 1)) {
      if (b.x >= a.x + NODE_WIDTH) break
      if (Math.abs(a.y - b.y) < NODE_HEIGHT) return `${uid} and ${other}`
    }
  return undefined
}

test('no node lies on another: chains, wide fans, blocks of leaves beside deep trees, lone objects', () => {
  const shapes: Record<string, (at: number) => number | undefined> = {
    chain: (at) => (at === 0 ? undefined : at - 1),
    fan: (at) => (at === 0 ? undefined : 0),
    binary: (at) => (at === 0 ? undefined : Math.floor((at - 1) / 2)),
    'fans beside chains': (at) => (at < 3 ? (at === 0 ? undefined : 0) : at % 2 === 0 ? 1 : at - 2),
    alone: () => undefined,
    mixed: (at) => (at % 7 === 0 ? undefined : Math.floor(at / 7) * 7),
  }
  for (const [name, parentOf] of Object.entries(shapes)) {
    const objects = forest(150, parentOf)
    assert.equal(layoutOf(graphOf(objects)).places.size, 150, name)
    assert.equal(overlap(objects), undefined, name)
  }
})

test('a node stands to the right of its owner, within the frame of its namespace', () => {
  const { places, frames } = layoutOf(graphOf(forest(40, (at) => (at < 3 ? undefined : at - 3))))
  for (let at = 3; at < 40; at++) assert.ok((places.get(`${at}`)?.x ?? 0) > (places.get(`${at - 3}`)?.x ?? 0), `${at}`)
  assert.equal(frames.length, 3)
  for (let at = 0; at < 40; at++) {
    const place = places.get(`${at}`)
    const frame = frames.find(({ namespace }) => namespace === `n${at % 3}`)
    assert.ok(place !== undefined && frame !== undefined)
    assert.ok(place.x >= frame.x && place.x + NODE_WIDTH <= frame.x + frame.width, `${at}`)
    assert.ok(place.y >= frame.y && place.y + NODE_HEIGHT <= frame.y + frame.height, `${at}`)
  }
})

test('five thousand objects are wider than high by no more than a screen is, and laid out the same each time', () => {
  const objects = forest(5000, (at) => (at % 50 === 0 ? undefined : Math.floor(at / 50) * 50))
  const layout = layoutOf(graphOf(objects))
  const shape = layout.width / layout.height
  assert.ok(shape > 0.7 && shape < 4, `${shape}`)
  assert.deepEqual(layoutOf(graphOf(new Map([...objects].reverse()))).places, layout.places)
})
