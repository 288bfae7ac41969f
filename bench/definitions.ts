/** The definitions that are measured: each of another kind, with a schema of about 20 kB that no other definition has. */
import { json, type RequestBody } from './client.ts'

/** Groups the definitions are spread over, in turn. */
export const GROUPS = 10
const SCHEMA_BYTES = 20_000

export const definitionName = (index: number): string => `bench${index}s.g${index % GROUPS}.bench.example.com`

export function definition(index: number): RequestBody {
  const group = `g${index % GROUPS}.bench.example.com`
  return json({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: definitionName(index), labels: { bench: 'definitions' } },
    spec: {
      group,
      scope: 'Namespaced',
      names: {
        plural: `bench${index}s`,
        singular: `bench${index}`,
        kind: `Bench${index}`,
        listKind: `Bench${index}List`,
        shortNames: [`b${index}`],
        categories: ['bench'],
      },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: [{ name: 'Ready', type: 'string', jsonPath: '.status.ready' }],
          schema: { openAPIV3Schema: rootSchema(index) },
        },
      ],
    },
  })
}

function rootSchema(index: number) {
  const spec: Record<string, unknown> = {}
  const root = {
    type: 'object',
    description: `Kind ${index} of the definitions that are measured.`,
    properties: {
      spec: { type: 'object', description: `What is wanted of kind ${index}.`, properties: spec, required: ['part0'] },
      status: {
        type: 'object',
        description: `What was seen of kind ${index}.`,
        properties: { ready: { type: 'string' }, conditions: conditions(index) },
      },
    },
  }
  let bytes = JSON.stringify(root).length
  for (let i = 0; bytes < SCHEMA_BYTES; i++) {
    const one = part(index, i)
    spec[`part${i}`] = one
    bytes += JSON.stringify(one).length + `"part${i}":,`.length
  }
  return root
}

/** Of about one kilobyte: what generators of such schemas write, with a rule in some. */
function part(index: number, i: number) {
  const about = (field: string) =>
    `The ${field} of part ${i} of kind ${index}: what is set here holds for all objects of this kind until it is changed.`
  return {
    type: 'object',
    description: about('whole'),
    required: ['name'],
    properties: {
      name: { type: 'string', description: about('name'), minLength: 1, maxLength: 63, pattern: `^[a-z]([-a-z0-9]*)$` },
      mode: {
        type: 'string',
        description: about('mode'),
        enum: ['Always', 'Never', `OnlyOf${index}`],
        default: 'Always',
      },
      replicas: { type: 'integer', format: 'int32', description: about('replicas'), minimum: 0, maximum: 100 + i },
      port: { 'x-kubernetes-int-or-string': true, description: about('port') },
      labels: { type: 'object', description: about('labels'), additionalProperties: { type: 'string', maxLength: 63 } },
      rules: {
        type: 'array',
        description: about('rules'),
        maxItems: 16,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['key'],
        items: {
          type: 'object',
          required: ['key'],
          properties: { key: { type: 'string', maxLength: 63 }, [`of${index}`]: { type: 'boolean' } },
        },
      },
    },
    ...(i % 6 === 0
      ? {
          'x-kubernetes-validations': [{ rule: "self.mode != 'Never' || !has(self.replicas)", message: 'no replicas' }],
        }
      : {}),
  }
}

function conditions(index: number) {
  return {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
    items: {
      type: 'object',
      required: ['type', 'status'],
      properties: {
        type: { type: 'string', description: `A condition of kind ${index}.` },
        status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
        lastTransitionTime: { type: 'string', format: 'date-time' },
      },
    },
  }
}
