/** What a store must hold after a fault, given what was answered before it. */
import assert from 'node:assert/strict'
import { liveRuntime } from '../../src/base/live.ts'
import { openStorage } from '../../src/storage/open.ts'

/** The newest answered revision of each key, of lines `KEY REVISION`; a last line that is cut off was not an answer. */
export function answersOf(output: string): Map<string, number> {
  const answers = new Map<string, number>()
  for (const line of output.slice(0, output.lastIndexOf('\n') + 1).split('\n')) {
    const space = line.lastIndexOf(' ')
    if (space > 0) answers.set(line.slice(0, space), Number(line.slice(space + 1)))
  }
  return answers
}

/** Opens the store and looks for every answered write, whose value is `valid`. Gives its revision. */
export async function checkAnswers(
  dir: string,
  answers: ReadonlyMap<string, number>,
  valid: (key: string, value: string) => boolean = (key, value) => value.startsWith(`${key} `),
): Promise<number> {
  const storage = await openStorage({ runtime: liveRuntime(), driver: 'lmdb', dir })
  try {
    let newest = 0
    for (const [key, revision] of answers) {
      const { item } = await storage.get(key)
      assert.ok(item, `${key}, answered at revision ${revision}, is gone`)
      // A later write of the key may have become durable without its answer being heard.
      assert.ok(item.modRevision >= revision, `${key} is at ${item.modRevision}, but ${revision} was answered`)
      assert.ok(valid(key, Buffer.from(item.value).toString('utf8')), `${key} has another value`)
      newest = Math.max(newest, revision)
    }
    assert.ok(storage.revision >= newest, `the revision went back from ${newest} to ${storage.revision}`)
    return storage.revision
  } finally {
    await storage.close()
  }
}
