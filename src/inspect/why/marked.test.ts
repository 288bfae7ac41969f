/** Pods that are being deleted are found by the columns that kubectl prints, where these tell, and by the list of all where not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import { StatusError } from '../../api/status.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import { createClusterReader } from '../cluster-reader.ts'
import type { Look } from './look.ts'
import { markedOf } from './marked.ts'

interface Pod {
  readonly name: string
  readonly namespace: string
  readonly phase: string
  readonly isDeleted?: boolean
}

const PODS = { group: '', version: 'v1', resource: 'pods', kind: 'Pod' } as NamedResource
const running = (name: string, isDeleted = false, namespace = 'a'): Pod => ({
  name,
  namespace,
  phase: 'Running',
  isDeleted,
})

const statusOf = ({ phase, isDeleted }: Pod) => (isDeleted === true && phase === 'Running' ? 'Terminating' : phase)

function isSelected({ name, phase }: Pod, selector: string): boolean {
  return selector.split(',').every((term) => {
    const [, field, sign, value] = /^([^!=]+)(!?=)(.*)$/.exec(term) ?? []
    return ({ 'metadata.name': name, 'status.phase': phase }[field ?? ''] === value) === (sign === '=')
  })
}

/** What is found, and what was asked. */
async function found(pods: readonly Pod[], table: (rows: object) => object = (rows) => rows) {
  const asked: string[] = []
  const transport = {
    inProcess: false,
    async send({ query, headers }: ApiRequest): Promise<ApiResponse> {
      const selector = query.get('fieldSelector') ?? ''
      asked.push(selector)
      const own = pods.filter((pod) => selector === '' || isSelected(pod, selector))
      const isTable = String(headers['accept']).includes('as=Table')
      const answer = isTable
        ? table({
            kind: 'Table',
            columnDefinitions: [{ name: 'Name' }, { name: 'Ready' }, { name: 'Status' }],
            rows: own.map((pod) => ({ cells: [pod.name, '1/1', statusOf(pod)] })),
          })
        : {
            kind: 'PartialObjectMetadataList',
            metadata: {},
            items: own.map(({ name, namespace, isDeleted }) => ({
              metadata: {
                name,
                namespace,
                ...(isDeleted === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
              },
            })),
          }
      const bytes = [Buffer.from(JSON.stringify(answer))]
      return { kind: 'bytes', status: 200, contentType: 'application/json', bytes }
    },
  }
  const limits = { budget: 200, requestMs: 1000, totalMs: 1000, userAgent: 'test' }
  const reader = createClusterReader(simulatedRuntime(1).clock, transport, limits)
  const read = await markedOf({ reader } as unknown as Look, PODS)
  const names = read.state === 'found' ? read.value.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`) : []
  return { read, names, asked, unseen: reader.unseen }
}

test('those that go are asked for by name, those that have ended by their phase, the others not at all', async () => {
  const done = { name: 'done', namespace: 'b', phase: 'Succeeded' }
  const { names, asked } = await found([
    running('stays'),
    running('goes', true),
    running('goes', false, 'b'),
    running('goes', true, 'c'),
    done,
    { ...done, name: 'held', phase: 'Failed', isDeleted: true },
  ])
  assert.deepEqual(names, ['b/held', 'a/goes', 'c/goes'])
  assert.equal(asked.includes(''), false)
  assert.equal(asked.filter((selector) => selector.startsWith('metadata.name')).length, 1)
})

test('where many go all are listed, once', async () => {
  const pods = Array.from({ length: 21 }, (_, index) => running(`goes-${index}`, true))
  const { names, asked } = await found([running('stays'), ...pods])
  assert.equal(names.length, 21)
  assert.equal(asked.filter((selector) => selector === '').length, 1)
})

test('an answer that is no table, or has other columns, tells nothing', async () => {
  const pods = [running('stays'), running('goes', true)]
  for (const table of [
    () => ({ kind: 'PodList', items: [] }),
    () => ({ kind: 'Table', columnDefinitions: [{ name: 'Name' }], rows: [{ cells: ['goes'] }] }),
    () => ({ kind: 'Table', columnDefinitions: [{ name: 'Name' }, { name: 'Status' }], rows: [{ cells: [] }] }),
  ])
    assert.deepEqual((await found(pods, table)).names, ['a/goes'])
  assert.deepEqual((await found([], () => ({ kind: 'Table', columnDefinitions: [], rows: null }))).names, [])
})

test('what may not be listed is said once', async () => {
  const refused = () => {
    throw new StatusError(403, 'Forbidden', 'pods is forbidden: User "u" cannot list resource "pods"')
  }
  const limits = { budget: 200, requestMs: 1000, totalMs: 1000, userAgent: 'test' }
  const reader = createClusterReader(simulatedRuntime(1).clock, { inProcess: false, send: refused }, limits)
  const read = await markedOf({ reader } as unknown as Look, PODS)
  assert.equal(read.state, 'forbidden')
  assert.deepEqual(
    reader.unseen.map(({ what }) => what),
    ['pods'],
  )
})
