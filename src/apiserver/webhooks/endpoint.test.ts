import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CacheReads } from '../reads.ts'
import { urlOf, webhookEndpoint } from './endpoint.ts'

const reads = {} as CacheReads

test('a webhook is asked at the path that Kubernetes makes of its URL', () => {
  const pathOf = (path: string) => webhookEndpoint({ url: `https://127.0.0.1:8443${path}` }, 5, reads).path
  // As a kube-apiserver v1.37.1 asked.
  for (const [given, asked] of [
    ['//failing', '/failing'],
    ['/a/../b/', '/b'],
    ['/x/./y//z/', '/x/y/z'],
    ['', '/'],
    ['/', '/'],
    ['/a%2Fb', '/a/b'],
    ['/%2e%2e/c', '/c'],
    ['/ä', '/%C3%A4'],
    ['/a b', '/a%20b'],
    ['/a:b@c', '/a:b@c'],
  ] as const)
    assert.equal(pathOf(given), `${asked}?timeout=5s`, given)
})

test('errors name the URL that was asked', () => {
  assert.equal(urlOf({ url: 'https://127.0.0.1:443//failing' }, 5), 'https://127.0.0.1:443/failing?timeout=5s')
  const service = { namespace: 'n', name: 's', path: '/a//b/' }
  assert.equal(urlOf({ service }, 10), 'https://s.n.svc:443/a/b?timeout=10s')
})
