import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { validateDefinition, validateDefinitionUpdate } from './validate-definition.ts'
import { definitionWarnings } from './warnings.ts'

const version = (more: Fields = {}): Fields => ({
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object' } },
  ...more,
})
const schema = (openAPIV3Schema: Fields) => ({ schema: { openAPIV3Schema } })
const definition = (spec: Fields = {}, metadata: Fields = {}, status: Fields = {}): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'as.t.org', ...metadata },
  spec: {
    group: 't.org',
    scope: 'Cluster',
    names: { plural: 'as', singular: 'a', kind: 'A', listKind: 'AList' },
    versions: [version()],
    ...spec,
  },
  status: { storedVersions: ['v1'], ...status },
})
const one = (more: Fields) => definition({ versions: [version(more)] })
/** `field: message` of each, cut where a whole version is shown. */
const told = (errors: readonly { readonly field: string; readonly message: string }[]) =>
  errors.map(({ field, message }) => `${field}: ${message.replace(/\{.*\}/, '{}')}`)

const wrong: Readonly<Record<string, readonly [KubeObject, ...string[]]>> = {
  'nothing wrong': [definition()],
  'a name that is another': [
    definition({}, { name: 'bs.t.org' }),
    'metadata.name: Invalid value: "bs.t.org": must be spec.names.plural+"."+spec.group',
  ],
  'a group without a dot': [
    definition({ group: 't' }, { name: 'as.t' }),
    'spec.group: Invalid value: "t": should be a domain with at least one dot',
  ],
  'an unknown scope': [
    definition({ scope: 'Both' }),
    'spec.scope: Unsupported value: "Both": supported values: "Cluster", "Namespaced"',
  ],
  'unknown fields kept at the root, without a type': [one(schema({ 'x-kubernetes-preserve-unknown-fields': true }))],
  'unknown fields said not to be kept': [
    one(schema({ 'x-kubernetes-preserve-unknown-fields': false })),
    'spec.validation.openAPIV3Schema.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined',
  ],
  'a default at the root beside the status subresource': [
    one({ ...schema({ type: 'object', default: {} }), subresources: { status: {} } }),
    'spec.validation.openAPIV3Schema: Invalid value: {}: only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled',
    'spec.validation.openAPIV3Schema.default.apiVersion: Required value',
    'spec.validation.openAPIV3Schema.default.kind: Required value',
  ],
  'no schema': [
    definition({ versions: [version({ schema: undefined })] }),
    'spec.versions[0].schema.openAPIV3Schema: Required value',
  ],
  'unknown fields preserved everywhere': [
    definition({ preserveUnknownFields: true }),
    'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
  ],
  'no version stored': [
    one({ storage: false }),
    'spec.versions: Invalid value: [{}]: must have exactly one version marked as storage version',
  ],
  'no stored version in status': [
    definition({}, {}, { storedVersions: [] }),
    'status.storedVersions: Invalid value: []: must have at least one stored version',
  ],
  'a stored version that is gone': [
    definition({}, {}, { storedVersions: ['v1', 'v0'] }),
    'status.storedVersions[1]: Invalid value: "v0": missing from spec.versions; v0 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v0 and removes v0 from status.storedVersions',
  ],
  'a stored version that is not listed': [
    definition({ versions: [version(), version({ name: 'v2', storage: false })] }, {}, { storedVersions: ['v2'] }),
    'status.storedVersions: Invalid value: ["v2"]: must have the storage version v1',
  ],
  'a protected group without approval': [
    definition({ group: 'x.k8s.io' }, { name: 'as.x.k8s.io' }),
    'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
  ],
  'an approval': [
    definition(
      { group: 'x.k8s.io' },
      { name: 'as.x.k8s.io', annotations: { 'api-approved.kubernetes.io': 'https://x.org/1' } },
    ),
  ],
  'a warning of what is not deprecated': [
    one({ deprecationWarning: 'old' }),
    'spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions',
  ],
  'a warning that cannot be printed': [
    one({ deprecated: true, deprecationWarning: 'é\n' }),
    'spec.versions[0].deprecationWarning: Invalid value: "é\\n": must only contain printable UTF-8 characters; non-printable character found at index 2',
  ],
  'scale with paths elsewhere': [
    one({
      subresources: { scale: { specReplicasPath: '.status.n', statusReplicasPath: 'n', labelSelectorPath: '.x' } },
    }),
    'spec.subresources.scale.specReplicasPath: Invalid value: ".status.n": should be a json path under .spec',
    'spec.subresources.scale.statusReplicasPath: Invalid value: "n": must be a simple json path starting with .',
    'spec.subresources.scale.labelSelectorPath: Invalid value: ".x": should be a json path under either .spec or .status',
  ],
  'a column of no type, and one of a wrong one': [
    one({
      additionalPrinterColumns: [
        { name: 'A', jsonPath: '.a' },
        { type: 'text', format: 'x' },
      ],
    }),
    'spec.additionalPrinterColumns[0].type: Required value: must be one of boolean,date,integer,number,string',
    'spec.additionalPrinterColumns[1].name: Required value',
    'spec.additionalPrinterColumns[1].type: Invalid value: "text": must be one of boolean,date,integer,number,string',
    'spec.additionalPrinterColumns[1].format: Invalid value: "x": must be one of byte,date,date-time,double,float,int32,int64,password',
    'spec.additionalPrinterColumns[1].JSONPath: Required value',
  ],
  'columns that versions have of their own': [
    definition({
      versions: [
        version(),
        version({ name: 'v2', storage: false, additionalPrinterColumns: [{ name: 'A', type: 'x', jsonPath: '.a' }] }),
      ],
    }),
    'spec.versions[1].additionalPrinterColumns[0].type: Invalid value: "x": must be one of boolean,date,integer,number,string',
  ],
  'selectable fields that are none': [
    one({
      ...schema({ type: 'object', properties: { spec: { type: 'object', properties: { n: { type: 'integer' } } } } }),
      selectableFields: ['.spec.n', '.spec.n', '.spec', '.metadata.name', '.spec.x', ''].map((jsonPath) => ({
        jsonPath,
      })),
    }),
    'spec.selectableFields[1].jsonPath: Duplicate value: ".spec.n"',
    'spec.selectableFields[2].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
    'spec.selectableFields[3].jsonPath: Invalid value: ".metadata.name": is an invalid path: does not refer to a valid field',
    'spec.selectableFields[4].jsonPath: Invalid value: ".spec.x": is an invalid path: does not refer to a valid field',
    'spec.selectableFields[5].jsonPath: Required value',
  ],
  'a webhook that is not asked for': [
    definition({ conversion: { strategy: 'None', webhook: { conversionReviewVersions: ['v1'], clientConfig: {} } } }),
    'spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook',
    'spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook',
  ],
  'a webhook that is not said': [
    definition({ conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v3'] } } }),
    'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
    'spec.conversion.conversionReviewVersions: Invalid value: ["v3"]: must include at least one of v1, v1beta1',
  ],
}
for (const [what, [object, ...errors]] of Object.entries(wrong))
  test(`a definition: ${what}`, () => {
    assert.deepEqual(told(validateDefinition(object)), errors)
  })

test('two versions of one name are refused, each version is named where they differ', () => {
  const errors = told(validateDefinition(definition({ versions: [version(), version({ storage: false })] })))
  assert.deepEqual(errors.filter((error) => error.includes('unique')).length, 1)
})

test('kind and scope may change until a definition is established, group and plural never', () => {
  const other = definition({
    group: 'u.org',
    scope: 'Namespaced',
    names: { plural: 'bs', singular: 'a', kind: 'B', listKind: 'AList' },
  })
  const fields = (old: KubeObject) => validateDefinitionUpdate(other, old).map(({ field }) => field)
  assert.deepEqual(fields(definition()), ['spec.group', 'spec.names.plural'])
  const established = { conditions: [{ type: 'Established', status: 'True' }] }
  assert.deepEqual(fields(definition({}, {}, established)), [
    'spec.scope',
    'spec.names.kind',
    'spec.group',
    'spec.names.plural',
  ])
})

test('what a definition had already is no reason to refuse its update', () => {
  const unapproved = definition({ group: 'x.k8s.io' }, { name: 'as.x.k8s.io' })
  assert.deepEqual(validateDefinitionUpdate(unapproved, unapproved), [])
  const preserving = definition({ preserveUnknownFields: true })
  assert.deepEqual(
    told(validateDefinitionUpdate(preserving, preserving)).filter((error) => error.includes('cannot set')),
    [],
  )
})

test('warnings: formats that are not known of the type, sets of what cannot be compared; each once, at any depth', () => {
  const field = { type: 'string', format: 'rgb' }
  const object = one(
    schema({
      type: 'object',
      properties: {
        a: field,
        b: { type: 'array', items: { ...field, format: 'cmyk' } },
        again: field,
        c: {
          type: 'object',
          additionalProperties: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'object' } },
        },
        d: { type: 'integer', format: 'int32' },
        e: { type: 'string', format: 'date-time' },
        g: { type: 'number', format: 'double' },
        h: { 'x-kubernetes-int-or-string': true, format: 'hostname' },
        i: { type: 'array', format: 'hostname', items: { type: 'string', format: 'hostname' } },
        j: { type: 'string', format: 'int32' },
        k: { type: 'number', format: 'int64' },
        f: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
      },
    }),
  )
  assert.deepEqual(definitionWarnings(object), [
    'unrecognized format "rgb"',
    'unrecognized format "cmyk"',
    'x-kubernetes-list-type: set for items of type "object" is not supported by server-side apply or CEL validation rules',
    // Each type has formats of its own.
    'unrecognized format "hostname"',
    'unrecognized format "int32"',
    'unrecognized format "int64"',
  ])
})
