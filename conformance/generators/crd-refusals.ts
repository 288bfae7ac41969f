/** Definitions that are refused, or accepted with a warning: their rules and schemas, and here all else that they say. */
import type { Case } from '../recording.ts'
import { asked } from './crd-asked.ts'
import { refusedRules } from './crd-refused-rules.ts'
import { refusedSchemas } from './crd-refused-schemas.ts'
import { definition, integer, list, object, text, version } from './definitions.ts'

const one = version('v1', object({ s: text }))

const refusedDefinitions: readonly Case[] = [
  asked(
    'the schema of metadata',
    definition([
      {
        ...one,
        schema: {
          openAPIV3Schema: object({
            metadata: object({ name: { ...text, pattern: '^a' }, labels: { type: 'object' } }),
            apiVersion: integer,
            kind: { ...text, enum: ['x'] },
          }),
        },
      },
    ]),
  ),
  asked('no root type', definition([{ ...one, schema: { openAPIV3Schema: { properties: { spec: text } } } }])),
  asked('a root that is no object', definition([{ ...one, schema: { openAPIV3Schema: { type: 'string' } } }])),
  asked('a nullable root', definition([{ ...one, schema: { openAPIV3Schema: object({}, { nullable: true }) } }])),
  asked('no schema', definition([{ name: 'v1', served: true, storage: true }])),
  asked('an empty schema', definition([{ ...one, schema: {} }])),
  asked(
    'subresources of several kinds',
    definition([
      {
        ...one,
        subresources: {
          status: {},
          scale: { specReplicasPath: 'spec.x', statusReplicasPath: '.spec.x', labelSelectorPath: '.metadata.x' },
        },
      },
    ]),
  ),
  asked(
    'scale paths with lists',
    definition([
      {
        ...one,
        subresources: {
          scale: { specReplicasPath: '.spec.x[0]', statusReplicasPath: '.status', labelSelectorPath: '' },
        },
      },
    ]),
  ),
  asked('no scale paths', definition([{ ...one, subresources: { scale: {} } }])),
  asked(
    'selectable fields that are none',
    definition([
      {
        ...version(
          'v1',
          object({ s: text, l: list(text), o: object({}), n: { type: 'number' }, d: { ...text, format: 'date' } }),
        ),
        selectableFields: [
          '.spec.l',
          '.spec.o',
          '.spec.n',
          '.spec.d',
          '.spec.none',
          '.metadata.name',
          'spec.s',
          '.spec.l[0]',
          '.spec.s',
          '.spec.s',
        ].map((jsonPath) => ({ jsonPath })),
      },
    ]),
  ),
  asked(
    'too many selectable fields',
    definition([
      {
        ...version('v1', object(Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`f${i}`, text])))),
        selectableFields: Array.from({ length: 9 }, (_, i) => ({ jsonPath: `.spec.f${i}` })),
      },
    ]),
  ),
  ...[
    { strategy: 'Webhook' },
    { strategy: 'None', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://x/y' } } },
    { strategy: 'Webhook', webhook: { conversionReviewVersions: [], clientConfig: { url: 'http://x/y' } } },
    {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v7'], clientConfig: { url: 'https://u:p@x/y?z#f' } },
    },
    { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1', 'v1', 'V_1'], clientConfig: {} } },
    {
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: ['v1'],
        clientConfig: { url: 'https://x', service: { name: 'n', namespace: 'n' } },
      },
    },
    {
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: ['v1'],
        clientConfig: { service: { name: '', namespace: '', port: 0, path: 'x//y' } },
      },
    },
    {
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: ['v1'],
        clientConfig: { service: { name: 'n', namespace: 'n' }, caBundle: 'bm90IGEgY2VydA==' },
      },
    },
    {
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: ['v1'],
        clientConfig: { service: { name: 'n', namespace: 'n' }, caBundle: 'no base64!' },
      },
    },
  ].map((conversion, i) => asked(`conversion ${i}`, definition([one], { spec: { conversion } }))),
  ...[
    { plural: 'Widgets' },
    { plural: '' },
    { kind: 'wid get' },
    { singular: 'Wi' },
    { shortNames: ['A b', 'a', 'a'] },
    { listKind: 'list kind' },
    { categories: ['All', 'a b'] },
    { plural: 'widgets', kind: 'W'.repeat(64) },
  ].map((names, i) => asked(`names ${i}`, definition([one], { names }))),
  ...[
    { group: 'nodots' },
    { group: 'UP.case' },
    { group: '' },
    { scope: 'Other' },
    { scope: '' },
    { versions: [] },
    { versions: [{ ...one, name: 'V 1' }] },
    { versions: [{ ...one, storage: false }] },
    { versions: [one, one] },
  ].map((more, i) => asked(`spec ${i}`, definition([one], { spec: more }))),
]

export function refusalCases(): readonly Case[] {
  return [...refusedRules, ...refusedSchemas, ...refusedDefinitions]
}
