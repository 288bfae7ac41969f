import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest } from '../../api/request.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { builtinScheme } from '../../api/scheme/scheme.ts'
import type { ShownKind } from '../registry/endpoint.ts'
import {
  encodingOfKind,
  errorEncoding,
  negotiate,
  type Offer,
  type Representation,
  requireMetadataForm,
  requireStream,
} from './negotiate.ts'
import { shownCustomKind, shownKind } from './shown-kind.ts'

const JSON_TYPE = 'application/json'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const TABLE = 'as=Table;v=v1;g=meta.k8s.io'
const METADATA = 'as=PartialObjectMetadata;v=v1;g=meta.k8s.io'

const row = builtinScheme().find('', 'v1', 'configmaps') as ResourceRow
const kind = shownKind(row)
/** As a custom resource: no message, and any range of types. */
const custom = shownCustomKind({
  ...row,
  schema: { type: 'struct', fields: [] },
  goType: 'unstructured.Unstructured',
} as unknown as ResourceRow)

function asked(accept: string, offer: Offer = { kind }): string {
  const request = { headers: { accept }, query: new URLSearchParams(), connection: { remoteAddress: '' } }
  try {
    const { encoding, shape } = negotiate(request as unknown as ApiRequest, offer)
    return `${encoding} ${shape}`
  } catch (error) {
    return (error as Error).message
  }
}

const REFUSED = `only the following media types are accepted: application/json, application/yaml, ${PROTOBUF}`

test('of several entries the best liked counts, and of equals the narrower, then the first', () => {
  assert.equal(asked(`${PROTOBUF},${JSON_TYPE}`), 'protobuf object')
  assert.equal(asked(`${JSON_TYPE};q=0.5,${PROTOBUF};q=0.9`), 'protobuf object')
  assert.equal(asked(`*/*,${PROTOBUF}`), 'protobuf object')
  assert.equal(asked(`application/*;q=0.9,${PROTOBUF};q=0.1`), 'json object')
  assert.equal(asked(`${JSON_TYPE};q=abc,${PROTOBUF};q=0.5`), 'protobuf object')
  assert.equal(asked('application/cbor,application/yaml'), 'yaml object')
})

test('an entry whose form is not served is passed over', () => {
  assert.equal(asked(`${PROTOBUF};${TABLE},${JSON_TYPE};${TABLE},${JSON_TYPE}`), 'json table')
  assert.equal(asked(`${JSON_TYPE};as=Bogus;v=v1;g=meta.k8s.io,${JSON_TYPE}`), 'json object')
  assert.equal(asked(`${PROTOBUF};${METADATA}`), 'protobuf metadata')
  for (const parameters of [TABLE, METADATA]) assert.equal(asked(`${JSON_TYPE};${parameters}`, {}), REFUSED)
  for (const parameters of [
    'v=v1',
    'as=;v=v1;g=meta.k8s.io',
    'as=Table',
    'stream=other',
    `${TABLE.replace('v1', 'v2')}`,
  ])
    assert.equal(asked(`${JSON_TYPE};${parameters}`), REFUSED, parameters)
  for (const parameters of ['charset=utf-8', 'stream=watch', 'as=', 'pretty=1'])
    assert.equal(asked(`${JSON_TYPE};${parameters}`), 'json object', parameters)
})

test('the route takes whole types alone; custom resources also take a family', () => {
  const unavailable = `406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, ${PROTOBUF}`
  for (const accept of ['*', 'application/*', 'text/html']) assert.equal(asked(accept), unavailable, accept)
  for (const accept of ['*', 'application/*']) assert.equal(asked(accept, { kind: custom }), 'json object', accept)
  assert.equal(asked('text/html', { kind: custom }), REFUSED)
  assert.equal(asked('application/*', { anyRange: true }), 'json object')
})

test('custom resources have no message, but their metadata has', () => {
  assert.equal(asked(PROTOBUF, { kind: custom }), REFUSED)
  assert.equal(asked(`${PROTOBUF},${JSON_TYPE}`, { kind: custom }), 'json object')
  assert.equal(asked(`${PROTOBUF};${METADATA}`, { kind: custom }), 'protobuf metadata')
})

test('a watch is no stream of YAML, whatever else is taken', () => {
  const watch = { kind, streams: true }
  assert.equal(asked(`application/yaml,${JSON_TYPE}`, watch), 'yaml object')
  assert.equal(asked(`${PROTOBUF};stream=watch`, watch), 'protobuf object')
  const stream = (encoding: 'yaml' | 'protobuf') => () => requireStream({ encoding } as Representation)
  assert.throws(stream('yaml'), {
    message: `only the following media types are accepted: application/json;stream=watch, ${PROTOBUF};stream=watch`,
  })
  assert.doesNotThrow(stream('protobuf'))
})

test('errors are in the first encoding that is taken without another form', () => {
  assert.equal(errorEncoding(`${PROTOBUF};${METADATA},${JSON_TYPE}`).encoding, 'json')
  assert.equal(errorEncoding(`${PROTOBUF},${JSON_TYPE}`).encoding, 'protobuf')
  assert.deepEqual(errorEncoding('text/html'), { encoding: 'json', pretty: true })
})

test('another kind is found among the entries', () => {
  const wanted = { as: 'APIGroupDiscoveryList', g: 'apidiscovery.k8s.io', v: 'v2' }
  const entry = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  assert.equal(encodingOfKind(`${JSON_TYPE},${entry}`, wanted, ['json']), 'json')
  assert.equal(encodingOfKind(JSON_TYPE, wanted, ['json']), undefined)
})

test('metadata is asked for by the name of what it is of', () => {
  const form = (asList: boolean, of: ShownKind, isList: boolean) => () =>
    requireMetadataForm({ asList } as Parameters<typeof requireMetadataForm>[0], of, isList)
  assert.throws(form(false, kind, true), {
    code: 406,
    message: 'you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)',
  })
  assert.throws(form(true, kind, false), {
    message: 'you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)',
  })
  assert.throws(form(true, custom, false), { code: 500, message: 'content is not a list' })
  form(true, kind, true)()
})
