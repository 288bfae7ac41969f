import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deletionPage, outOfDate } from './deletion-page.ts'

test('the diagrams of docs/deletion.md are what skiff timeline tells (node test/timeline/deletion-page.ts --write)', async () => {
  assert.deepEqual(outOfDate(await deletionPage()), [])
})
