import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeProtobuf } from '../api/codec/protobuf.ts'
import type { KubeObject } from '../api/object.ts'
import { schemaOf } from '../api/schema/builtin.ts'
import { builtinScheme } from '../api/scheme/scheme.ts'
import { decodeStored } from './cache/entry.ts'
import { definitionOfVersion1, readingKubernetes } from './stored-by-kubernetes.ts'

const reading = readingKubernetes(builtinScheme())
const read = (key: string, bytes: Uint8Array): KubeObject => decodeStored(reading.decode(key, bytes), 7)

/** What a kube-apiserver v1.37.1 stored for a claim of the user's: without the phase, which it adds when it reads. */
const CLAIM =
  'azhzAAobCgJ2MRIVUGVyc2lzdGVudFZvbHVtZUNsYWltEqsFCvEECgNwdmMSABoHZGVmYXVsdCIAKiQyOTFmZDc3ZC04NDZiLTRiZWUtYWViOS1iM2IxODM5NDgyZWIyADgAQggIqOaO2AYQAGL9AQowa3ViZWN0bC5rdWJlcm5ldGVzLmlvL2xhc3QtYXBwbGllZC1jb25maWd1cmF0aW9uEsgBeyJhcGlWZXJzaW9uIjoidjEiLCJraW5kIjoiUGVyc2lzdGVudFZvbHVtZUNsYWltIiwibWV0YWRhdGEiOnsiYW5ub3RhdGlvbnMiOnt9LCJuYW1lIjoicHZjIiwibmFtZXNwYWNlIjoiZGVmYXVsdCJ9LCJzcGVjIjp7ImFjY2Vzc01vZGVzIjpbIlJlYWRXcml0ZU9uY2UiXSwicmVzb3VyY2VzIjp7InJlcXVlc3RzIjp7InN0b3JhZ2UiOiIxR2kifX19fQpyHGt1YmVybmV0ZXMuaW8vcHZjLXByb3RlY3Rpb26KAYkCChlrdWJlY3RsLWNsaWVudC1zaWRlLWFwcGx5EgZVcGRhdGUaAnYxIggIqOaO2AYQADIIRmllbGRzVjE6yQEKxgF7ImY6bWV0YWRhdGEiOnsiZjphbm5vdGF0aW9ucyI6eyIuIjp7fSwiZjprdWJlY3RsLmt1YmVybmV0ZXMuaW8vbGFzdC1hcHBsaWVkLWNvbmZpZ3VyYXRpb24iOnt9fX0sImY6c3BlYyI6eyJmOmFjY2Vzc01vZGVzIjp7fSwiZjpyZXNvdXJjZXMiOnsiZjpyZXF1ZXN0cyI6eyIuIjp7fSwiZjpzdG9yYWdlIjp7fX19LCJmOnZvbHVtZU1vZGUiOnt9fX1CABIxCg1SZWFkV3JpdGVPbmNlEhISEAoHc3RvcmFnZRIFCgMxR2kaADIKRmlsZXN5c3RlbRoCCgAaACIA'

test('a value of a kube-apiserver is read with its defaults', () => {
  const claim = read('/registry/persistentvolumeclaims/default/pvc', Buffer.from(CLAIM, 'base64'))
  assert.equal(claim.apiVersion, 'v1')
  assert.equal(claim.metadata.resourceVersion, '7')
  assert.deepEqual(claim['spec'], {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    volumeMode: 'Filesystem',
  })
  assert.deepEqual(claim['status'], { phase: 'Pending' })
  assert.equal(claim.metadata.managedFields?.length, 1)
})

test('JSON, and protobuf of a kind that is not served, stay the very bytes they are', () => {
  const json = Buffer.from('{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}')
  assert.equal(reading.decode('/registry/configmaps/default/a', json), json)
  const schema = schemaOf('io.k8s.api.core.v1.ConfigMap')
  const bitmap = encodeProtobuf({ kind: 'RangeAllocation', apiVersion: 'v1' }, schema)
  assert.equal(reading.decode('/registry/ranges/servicenodeports', bitmap), bitmap)
})

test('what was stored in a version that is no longer served is read as the one that is', () => {
  const bundle = {
    kind: 'ClusterTrustBundle',
    apiVersion: 'certificates.k8s.io/v1beta1',
    metadata: { name: 'b' },
    spec: { trustBundle: 'x' },
  }
  const row = builtinScheme()
    .rows()
    .find(({ kind }) => kind === 'ClusterTrustBundle')
  assert.ok(row !== undefined)
  const { apiVersion, spec } = read(
    '/registry/clustertrustbundles/b',
    encodeProtobuf(bundle, row.schema),
  ) as KubeObject & {
    spec: unknown
  }
  assert.deepEqual(
    { apiVersion, spec },
    { apiVersion: `certificates.k8s.io/${row.storageVersion}`, spec: { trustBundle: 'x' } },
  )
})

test('a definition as Kubernetes stores it says of each version what it said of all', () => {
  const stored = {
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1beta1',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      version: 'v1',
      names: { plural: 'widgets', kind: 'Widget' },
      scope: 'Namespaced',
      validation: { openAPIV3Schema: { type: 'object' } },
      subresources: { status: {} },
      additionalPrinterColumns: [{ name: 'A', type: 'string', JSONPath: '.spec.a' }],
      versions: [
        { name: 'v1', served: true, storage: true },
        { name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: { type: 'object', nullable: true } } },
      ],
      conversion: {
        strategy: 'Webhook',
        webhookClientConfig: { url: 'https://a/b' },
        conversionReviewVersions: ['v1'],
      },
      preserveUnknownFields: false,
    },
  }
  const common = {
    subresources: { status: {} },
    additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.spec.a' }],
  }
  const expected = {
    ...stored,
    apiVersion: 'apiextensions.k8s.io/v1',
    spec: {
      group: 'example.com',
      names: { plural: 'widgets', kind: 'Widget' },
      scope: 'Namespaced',
      versions: [
        { schema: { openAPIV3Schema: { type: 'object' } }, ...common, name: 'v1', served: true, storage: true },
        {
          schema: { openAPIV3Schema: { type: 'object', nullable: true } },
          ...common,
          name: 'v2',
          served: true,
          storage: false,
        },
      ],
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: { url: 'https://a/b' }, conversionReviewVersions: ['v1'] },
      },
    },
  }
  assert.deepEqual(definitionOfVersion1(stored), expected)
  const key = '/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com'
  const found = read(key, Buffer.from(JSON.stringify(stored)))
  assert.deepEqual(found['spec'], expected.spec)
  assert.equal(found.apiVersion, 'apiextensions.k8s.io/v1')
})
