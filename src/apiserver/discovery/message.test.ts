import assert from 'node:assert/strict'
import { test } from 'node:test'
import { discoveryBytes } from './message.ts'

/** What kube-apiserver v1.37.1 answers at /api: the envelope, the group and its first resource. */
test('aggregated discovery as a message has the bytes that Kubernetes writes', () => {
  const document = {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: [
      {
        metadata: {},
        versions: [
          {
            version: 'v1',
            resources: [
              {
                resource: 'bindings',
                responseKind: { group: '', version: '', kind: 'Binding' },
                scope: 'Namespaced',
                singularResource: 'binding',
                verbs: ['create'],
              },
            ],
            freshness: 'Current',
          },
        ],
      },
    ],
  }
  const resource = `0a08${hex('bindings')}120d0a0012001a07${hex('Binding')}1a0a${hex('Namespaced')}2207${hex('binding')}2a06${hex('create')}`
  const version = `0a02${hex('v1')}12${size(resource)}${resource}1a07${hex('Current')}`
  const message = Buffer.from(discoveryBytes(document)).toString('hex')
  assert.ok(
    message.startsWith(`${hex('k8s')}000a2f0a16${hex('apidiscovery.k8s.io/v2')}1215${hex('APIGroupDiscoveryList')}`),
  )
  assert.ok(message.includes(`12${size(version)}${version}`), message)
})

const hex = (text: string) => Buffer.from(text).toString('hex')
const size = (bytes: string) => (bytes.length / 2).toString(16).padStart(2, '0')
