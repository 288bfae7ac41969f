import assert from 'node:assert/strict'
import { test } from 'node:test'
import { untoldImages } from './images.ts'

const named = (id: string, names: readonly string[], size = 1000) => ({ id, names, size })
const status = (...names: string[]) => ({ names, sizeBytes: 1000 })
const numbered = (count: number) => Array.from({ length: count }, (_, at) => `r/image:${at}`)

test('an image is told of by any of its names, of which a status has five', () => {
  const [fifth, ...others] = numbered(5)
  const image = named('sha256:1', ['r/image@sha256:a', fifth ?? '', ...others])
  assert.deepEqual(untoldImages(['sha256:1'], [image], [status('r/image@sha256:a', ...others.slice(0, 4))]), [])
})

test('an image whose new names are all beyond the five that are told is told of', () => {
  const before = ['r/a:1', 'r/a:2', 'r/a:3', 'r/a:4', 'r/a:5']
  assert.deepEqual(untoldImages(['sha256:1'], [named('sha256:1', [...before, 'r/new:1'])], [status(...before)]), [])
})

test('an image that the runtime does not have yet, or the status does not name, is waited for', () => {
  const images = [named('sha256:1', ['r/a:1']), named('sha256:2', ['r/b:1'])]
  assert.deepEqual(untoldImages(['sha256:1', 'sha256:2', 'sha256:3'], images, [status('r/a:1')]), [
    'sha256:2',
    'sha256:3',
  ])
})

test('of more than fifty images the smallest are not told of, and are not waited for', () => {
  const told = numbered(50).map((name) => status(name))
  const images = [named('sha256:small', ['r/small:1'], 10), named('sha256:large', ['r/large:1'], 5000)]
  assert.deepEqual(untoldImages(['sha256:small', 'sha256:large'], images, told), ['sha256:large'])
})
