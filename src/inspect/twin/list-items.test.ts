import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiResponse } from '../../api/request.ts'
import { StatusError } from '../../api/status.ts'
import { liveRuntime } from '../../base/live-runtime.ts'
import { createClient } from '../../client/transport.ts'
import { listItems } from './list-items.ts'

const PODS = { resource: { group: '', version: 'v1', resource: 'pods' }, apiVersion: 'v1', kind: 'Pod' }

/** A server that gives what `answers` has for the token to continue with; `asked` has these, and `all` of a list without a limit. */
function listed(answers: Readonly<Record<string, string | Error>>) {
  const asked: string[] = []
  const transport = {
    inProcess: false,
    async send({ query }: { readonly query: URLSearchParams }): Promise<ApiResponse> {
      const token = query.get('limit') === null ? 'all' : (query.get('continue') ?? '')
      asked.push(token)
      const answer = answers[token]
      if (typeof answer !== 'string') throw answer ?? new Error(`nothing is said of ${token}`)
      return { kind: 'bytes', status: 200, contentType: 'application/json', bytes: [Buffer.from(answer)] }
    },
  }
  return { asked, list: () => listItems(createClient(liveRuntime(), transport, { userAgent: 'test' }), PODS, '') }
}

const page = (names: readonly string[], next = '', items: unknown = names.map(pod)) =>
  JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '9', continue: next }, items })
const pod = (name: string) => ({
  metadata: { name, resourceVersion: '3', managedFields: [{ manager: name }] },
  spec: {},
})

test('all pages are one list, each object as the store has it, and whole where that is asked for', async () => {
  const { list, asked } = listed({ '': page(['a', 'b'], 'two'), two: page([], 'three'), three: page(['c']) })
  const items = await list()
  assert.deepEqual(asked, ['', 'two', 'three'])
  assert.deepEqual(
    items.map(({ metadata }) => metadata),
    ['a', 'b', 'c'].map((name) => ({ name, resourceVersion: '3' })),
  )
  assert.deepEqual(
    items.map((item) => item.object()),
    ['a', 'b', 'c'].map((name) => ({ kind: 'Pod', apiVersion: 'v1', ...pod(name) })),
  )
  assert.equal(
    Buffer.from(items[2]?.value ?? []).toString(),
    '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"c","managedFields":[{"manager":"c"}]},"spec":{}}',
  )
})

test('the next page is asked for before one is looked at', async () => {
  const broken = page([], 'two', [{ metadata: {} }]).replace('"metadata":{}}', '"metadata":{"name":oh}}')
  const { list, asked } = listed({ '': broken, two: new Error('the server is gone') })
  await assert.rejects(list(), SyntaxError)
  assert.deepEqual(asked, ['', 'two'])
})

test('a list that is written in another way is read as well', async () => {
  const spaced = (text: string) => JSON.stringify(JSON.parse(text), null, 2)
  const { list, asked } = listed({ '': spaced(page(['a'], 'two')), two: spaced(page(['b'])) })
  assert.deepEqual(
    (await list()).map((item) => [item.metadata.name, JSON.parse(Buffer.from(item.value).toString()).apiVersion]),
    [
      ['a', 'v1'],
      ['b', 'v1'],
    ],
  )
  assert.deepEqual(asked, ['', 'two'])
})

test('pages that end too late are left, and the list is read whole', async () => {
  const { list, asked } = listed({
    '': page(['a'], 'two'),
    two: new StatusError(410, 'Expired', 'the provided continue parameter is too old'),
    all: page(['a', 'b']),
  })
  assert.deepEqual(
    (await list()).map(({ metadata }) => metadata.name),
    ['a', 'b'],
  )
  assert.deepEqual(asked, ['', 'two', 'all'])
})
