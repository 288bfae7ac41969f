import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldTable } from '../../api/generated/fields.ts'
import type { Json, JsonObject } from '../../api/object.ts'
import { createScheme } from '../../api/scheme/scheme.ts'
import { stepsAtOnce } from '../../base/turns.ts'
import {
  describe,
  describedName,
  fieldText,
  parseDescriptions,
  readDescriptions,
  type TypeDescription,
} from './descriptions.ts'
import { createDocuments } from './documents-by-group-version.ts'
import { published } from './schemas.ts'

const descriptions = readDescriptions()
const { schemas } = stepsAtOnce(published())
const structs: Record<string, { fields: readonly (readonly [string])[] }> = JSON.parse(fieldTable).structs

/** Every field there is, by described type: of published schemas and of the field table. */
const fields = new Map<string, Set<string>>()
for (const [definition, schema] of schemas) known(definition, Object.keys((schema['properties'] ?? {}) as JsonObject))
for (const [definition, { fields: all }] of Object.entries(structs))
  known(
    definition,
    all.map(([name]) => name),
  )

function known(definition: string, names: readonly string[]): void {
  const name = describedName(definition)
  fields.set(name, new Set([...(fields.get(name) ?? []), ...names]))
}

/** What the files say, line by line: `core.Pod` or `core.Pod.spec`, and its sentence. */
const sentences = [...descriptions].flatMap(([type, { text, fields: own }]) => [
  { type, field: undefined, text },
  ...[...own].map(([field, sentence]) => ({ type, field, text: sentence })),
])

test('every published type and property is described, but for bare references, which cannot be', () => {
  const bare: string[] = []
  const silent: string[] = []
  for (const [definition, schema] of schemas) {
    if (typeof schema['description'] !== 'string') silent.push(definition)
    for (const [field, property] of Object.entries((schema['properties'] ?? {}) as Record<string, JsonObject>))
      if ('$ref' in property) {
        assert.equal(property['description'], undefined)
        bare.push(`${describedName(definition)}.${field}`)
      } else if (typeof property['description'] !== 'string') silent.push(`${definition}.${field}`)
  }
  assert.deepEqual(silent, [])
  assert.deepEqual(
    bare.sort(),
    ['additionalItems', 'additionalProperties', 'example', 'externalDocs', 'items', 'not'].map(
      (field) => `apiextensions.JSONSchemaProps.${field}`,
    ),
  )
})

test('every field of the field table is described', () => {
  const common = new Set(['apiVersion', 'kind', 'metadata', 'items'])
  const bare = new Set(['additionalItems', 'additionalProperties', 'example', 'externalDocs', 'items', 'not'])
  const silent: string[] = []
  for (const [definition, { fields: all }] of Object.entries(structs)) {
    const name = describedName(definition)
    // The rest of what lists and objects have, and lists themselves, is said in common.
    const isObject = all.some(([field]) => field === 'apiVersion') && all.some(([field]) => field === 'kind')
    const isList = isObject && all.some(([field]) => field === 'items')
    if (!descriptions.has(name) && !isList) silent.push(name)
    for (const [field] of all)
      if (fieldText(descriptions, name, field) === undefined && !(isObject && common.has(field)))
        if (!(name === 'apiextensions.JSONSchemaProps' && bare.has(field))) silent.push(`${name}.${field}`)
  }
  assert.deepEqual(silent, [])
})

test('nothing is described that is not there', () => {
  const invented = sentences.filter(({ type, field }) => {
    // What objects, lists and requests have in common belongs to no type.
    if (type.startsWith('*.') || type.startsWith('http.')) return false
    return !fields.has(type) || (field !== undefined && !fields.get(type)?.has(field))
  })
  assert.deepEqual(invented, [])
})

const STOP = new Set(
  `a an the of this that these those its it is are be was were to in on for from by with and or as at if when which whose
  what where who how has have had do does can may must will not no any all each every one some same own other
  name names named field fields object objects resource type value values kind kinds specifies specified defines
  defined describes contains holds represents indicates used using set sets given`.split(/\s+/),
)
const stem = (word: string) => word.replace(/(?:ies|es|s|ed|ing)$/, '')
const words = (text: string) =>
  text
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .match(/[a-z\d]+/g) ?? []

/** The words of a sentence that neither grammar nor the names of type and field have put there. */
function information(type: string, field: string | undefined, text: string): readonly string[] {
  const expected = new Set([...words(type), ...words(field ?? '')].map(stem))
  return [...new Set(words(text))].filter((word) => !STOP.has(word) && !expected.has(stem(word)))
}

test('every operation and every parameter is described, and no more than there are', () => {
  const documents = createDocuments(createScheme(), () => undefined)
  const said = new Set<string>()
  const silent: string[] = []
  const look = (value: Json | undefined, path: string): void => {
    if (Array.isArray(value)) for (const item of value) look(item, path)
    else if (typeof value === 'object' && value !== null) {
      const { operationId, in: place, description } = value as JsonObject
      if (operationId !== undefined || place === 'query' || place === 'path' || place === 'header')
        if (typeof description === 'string') said.add(description)
        else silent.push(path)
      for (const [key, inner] of Object.entries(value)) look(inner, `${path}/${key}`)
    }
  }
  const names = [...stepsAtOnce(documents.index()).keys()]
  const all = [documents.v2(), ...names.map((name) => documents.v3(name) ?? assert.fail())]
  for (const document of all.map(stepsAtOnce))
    for (const [part, value] of Object.entries(document)) if (part !== 'definitions') look(value, part)
  assert.deepEqual(silent, [])
  const unsaid = sentences.filter(({ type, field, text }) => {
    if (field === undefined || !type.startsWith('http.')) return false
    const [start = '', end = ''] = text.split(/\{kind\}.*\{part\}|\{part\}.*\{kind\}|\{kind\}|\{part\}/)
    return ![...said].some((one) => one.startsWith(start) && one.endsWith(end))
  })
  assert.deepEqual(unsaid, [])
  assert.deepEqual(
    [...said].filter((text) => /[{}]/.test(text)),
    [],
  )
})

test('no sentence says merely what the name of its field says', () => {
  for (const [type, field, text] of [
    ['core.Pod', 'name', 'The name of the pod.'],
    ['core.PodSpec', 'nodeName', 'The name of the node of this pod.'],
    ['core.Container', 'workingDir', 'Specifies the working dir for this container.'],
    ['apps.DeploymentStatus', 'readyReplicas', 'The ready replicas of a Deployment.'],
  ] as const)
    assert.deepEqual(information(type, field, text), [], text)
  const empty = sentences.filter(({ type, field, text }) => information(type, field, text).length < 2)
  assert.deepEqual(empty, [])
})

test('no two fields share a sentence, unless they have the same name and mean the same', () => {
  const first = new Map<string, { readonly place: string; readonly field: string | undefined }>()
  const shared: string[] = []
  for (const { type, field, text } of sentences) {
    const place = `${type}.${field ?? ''}`
    const other = first.get(text)
    if (other !== undefined && (field === undefined || other.field !== field))
      shared.push(`${place} and ${other.place}: ${text}`)
    first.set(text, { place, field })
  }
  assert.deepEqual(shared, [])
})

test('descriptions are plain sentences: one line, printable, ended, neither too short nor too long', () => {
  const wrong = sentences.filter(
    ({ text }) =>
      !/^[\x20-\x7e…]*[.…]$/.test(text) || /\s\s|\s$|^a\s/.test(text) || text.length < 12 || text.length > 420,
  )
  assert.deepEqual(wrong, [])
})

test("the phrases that Kubernetes' conformance tests read begin the descriptions of what every object has", () => {
  const document = stepsAtOnce(createDocuments(createScheme(), () => undefined).v3('api/v1') ?? assert.fail()) as {
    components: { schemas: Record<string, { properties: Record<string, { description: string }> }> }
  }
  const { properties: pod } = document.components.schemas['io.k8s.api.core.v1.Pod']!
  assert.match(pod['apiVersion']!.description, /^APIVersion defines/)
  assert.match(pod['metadata']!.description, /^Standard object's metadata/)
  assert.match(pod['metadata']!.description, /\bPod\b/)
  const { properties: meta } = document.components.schemas['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta']!
  assert.match(meta['creationTimestamp']!.description, /^CreationTimestamp is a timestamp/)
})

test('a type that is like another takes what it does not say itself, and nothing is said beside a reference', () => {
  const some = new Map<string, TypeDescription>()
  parseDescriptions(
    'group g\nA: An A.\n  a: From A.\n  b: From A too.\n  r: Lost.\n\ngroup h\nB like g.A: A B.\n  b: From B.\n',
    some,
  )
  const properties = {
    a: { type: 'string' },
    b: { allOf: [{ $ref: '#/x' }] },
    c: { type: 'string' },
    r: { $ref: '#/x' },
  }
  assert.deepEqual(describe(some, 'io.example.h.v1.B', { type: 'object', properties }), {
    description: 'A B.',
    type: 'object',
    properties: {
      a: { description: 'From A.', type: 'string' },
      b: { description: 'From B.', allOf: [{ $ref: '#/x' }] },
      c: { type: 'string' },
      r: { $ref: '#/x' },
    },
  })
})

test('a file that is not in the form is told with what is wrong in it', () => {
  const parse = (text: string) => parseDescriptions(text, new Map<string, TypeDescription>())
  assert.throws(() => parse('group g\n\nA: Text.\nno colon'), /no description: "no colon"/)
  assert.throws(() => parse('A: Text.'), /the group of A is not named/)
  assert.throws(() => parse('group g\n  a: Text.'), /the type of field a is not named/)
  assert.throws(() => parse('group g\nA: Text.\nA: Other.'), /g\.A is described twice/)
  assert.throws(() => parse('group g\nA: Text.\n  a: Text.\n  a: Other.'), /a is described twice/)
})
