/** Definitions that are refused, or accepted with a warning: what rules may cost, what schemas may say. */
import type { Case } from '../recording.ts'
import { type Any, definition, definitions, integer, list, object, post, text, version } from './definitions.ts'

const ruled = (schema: Any, ...rules: readonly (string | object)[]) => ({
  ...schema,
  'x-kubernetes-validations': rules.map((one) => (typeof one === 'string' ? { rule: one } : one)),
})
const asked = (name: string, given: Any): Case => ({
  name: `asked: ${name}`,
  ns: false,
  anyOrder: true,
  steps: [post(`${definitions}?dryRun=All`, JSON.parse(JSON.stringify(given).replaceAll('$NS', 'asked')))],
})
const spec = (name: string, given: Any): Case => asked(name, definition([version('v1', given)]))

export function refusalCases(): readonly Case[] {
  const one = version('v1', object({ s: text }))
  return [
    spec(
      'a rule over a list of lists without bounds',
      object({ l: ruled(list(list(text)), 'self.all(x, x.all(y, y.contains("x")))') }),
    ),
    spec(
      'a rule that multiplies',
      object({ l: list(ruled(list(text), 'self.all(x, self.all(y, self.all(z, x == y || y == z)))')) }),
    ),
    spec('a rule with bounds', object({ l: ruled(list(text, { maxItems: 10 }), 'self.all(x, self.all(y, x == y))') })),
    spec(
      'a message that costs',
      object({
        l: ruled(list(text), { rule: 'true', messageExpression: 'self.map(x, self.map(y, x + y).join("")).join("")' }),
      }),
    ),
    spec(
      'a message of unknown length',
      object({ i: ruled(integer, { rule: 'true', messageExpression: '"at least " + string(self)' }) }),
    ),
    spec('a regular expression over anything', object({ l: list(ruled(text, 'self.matches("^(a|b)*$")')) })),
    spec(
      'many dear rules',
      object(
        Object.fromEntries(
          Array.from({ length: 30 }, (_, i) => [
            `f${i}`,
            ruled(list(text, { maxItems: 1000 }), 'self.exists_one(x, x == "a")'),
          ]),
        ),
      ),
    ),
    spec(
      'a rule that does not compile',
      object({ s: ruled(text, 'self.nothing == 1', 'self +', '', 'self == 1', '1 + 1') }),
    ),
    spec(
      'unknown variables and functions',
      object({ s: ruled(text, 'other == self', 'self.unknownFunction()', 'has(self)') }),
    ),
    spec(
      'a message that is none',
      object({
        s: ruled(
          text,
          { rule: 'true', messageExpression: '1' },
          { rule: 'true', messageExpression: 'self +' },
          { rule: 'true', message: ' ' },
          { rule: 'true', message: 'two\nlines' },
          { rule: 'true', message: 'x'.repeat(3000) },
        ),
      }),
    ),
    spec(
      'reasons and paths',
      object({
        o: ruled(
          object({ a: text, l: list(text) }),
          { rule: 'true', reason: 'Bogus' },
          { rule: 'true', fieldPath: '.none' },
          { rule: 'true', fieldPath: 'a' },
          { rule: 'true', fieldPath: '.l[0]' },
          { rule: 'true', fieldPath: "['a']" },
          { rule: 'true', fieldPath: '' },
          { rule: 'true', fieldPath: '.a.b' },
        ),
      }),
    ),
    spec(
      'old values where there are none',
      object({ l: list(ruled(text, 'self == oldSelf')), m: ruled(list(text), 'self == oldSelf') }),
    ),
    spec(
      'optional old values',
      object({
        s: ruled(
          text,
          { rule: 'true', optionalOldSelf: true },
          { rule: 'self == oldSelf', optionalOldSelf: true },
          { rule: 'oldSelf.orValue("") == self', optionalOldSelf: true },
          { rule: 'self == oldSelf', optionalOldSelf: false },
        ),
      }),
    ),
    spec('the same rule twice', object({ s: ruled(text, 'self == "x"', 'self == "x"') })),
    spec(
      'rules on what is kept as it is',
      object({
        x: ruled({ 'x-kubernetes-preserve-unknown-fields': true }, 'true'),
        y: ruled({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, 'self.x == 1'),
      }),
    ),
    spec(
      'int or string and rules',
      object({
        x: ruled({ 'x-kubernetes-int-or-string': true }, 'type(self) == int ? self > 1 : self.size() > 1', 'self > 1'),
      }),
    ),
    spec(
      'an embedded object and rules',
      object({
        x: ruled(
          { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
          'self.metadata.name == "x"',
          'self.spec.x == 1',
          'self.kind == "Pod"',
        ),
      }),
    ),
    spec(
      'names that are words of the language',
      object(
        { true: text, in: text, 'a-b': text, 'a.b': text, __x__: text, namespace: text },
        {
          'x-kubernetes-validations': [
            {
              rule: 'self.__in__ == self.__true__ && self.a__dash__b == self.a__dot__b && self.__underscores__x__ == "x" && self.__namespace__ == ""',
            },
          ],
        },
      ),
    ),
    spec(
      'formats',
      object({
        a: { ...text, format: 'bogus' },
        b: { ...text, format: 'date-time' },
        c: { ...integer, format: 'int7' },
        d: { ...text, format: 'quantity' },
      }),
    ),
    spec(
      'list types',
      object({
        a: list(text, { 'x-kubernetes-list-type': 'bogus' }),
        b: list(text, { 'x-kubernetes-list-type': 'map' }),
        c: list(object({ k: text }), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }),
        d: list(object({ k: text }, { required: ['k'] }), { 'x-kubernetes-list-map-keys': ['k'] }),
        e: text,
        f: list(object({ k: object({}) }, { required: ['k'] }), {
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k', 'k', 'none'],
        }),
      }),
    ),
    spec(
      'map types',
      object({
        a: { ...text, 'x-kubernetes-map-type': 'atomic' },
        b: object({}, { 'x-kubernetes-map-type': 'bogus' }),
      }),
    ),
    spec(
      'sets of objects',
      object({
        a: list(object({ x: text }), { 'x-kubernetes-list-type': 'set' }),
        b: list(list(text), { 'x-kubernetes-list-type': 'set' }),
        c: list({ ...text, nullable: true }, { 'x-kubernetes-list-type': 'set' }),
      }),
    ),
    spec(
      'what structural schemas forbid',
      object({
        a: { ...text, uniqueItems: true },
        b: { type: 'object', properties: { x: text }, additionalProperties: text },
        c: { type: 'object', additionalProperties: false },
        d: {},
        e: { type: 'array' },
        f: { allOf: [{ type: 'object' }] },
        g: { type: ['string'] },
      }),
    ),
    spec(
      'what alternatives forbid',
      object({
        a: object(
          { x: text },
          {
            anyOf: [
              {
                type: 'object',
                description: 'd',
                default: {},
                properties: { x: { type: 'string' }, y: { minLength: 1 } },
              },
            ],
          },
        ),
        b: { ...text, not: { nullable: true, 'x-kubernetes-int-or-string': true } },
      }),
    ),
    spec(
      'int or string shapes',
      object({
        a: { 'x-kubernetes-int-or-string': true, type: 'integer' },
        b: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        c: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
        d: {
          'x-kubernetes-int-or-string': true,
          allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: 'x' }],
        },
      }),
    ),
    spec(
      'embedded shapes',
      object({
        a: { type: 'object', 'x-kubernetes-embedded-resource': true },
        b: { ...text, 'x-kubernetes-embedded-resource': true },
        c: object(
          { metadata: { type: 'object', properties: { name: text } }, kind: integer },
          { 'x-kubernetes-embedded-resource': true },
        ),
      }),
    ),
    spec(
      'preserving',
      object({
        a: { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
        b: { ...text, 'x-kubernetes-preserve-unknown-fields': true },
      }),
    ),
    spec(
      'defaults that do not fit',
      object({
        a: { ...text, default: 1 },
        b: { ...integer, default: 5, maximum: 3 },
        c: object({ x: text }, { default: { y: 1 } }),
        d: { ...text, default: null },
        e: object({ x: text }, { required: ['x'], default: {} }),
        f: ruled({ ...integer, default: 1 }, 'self > 1'),
      }),
    ),
    spec(
      'patterns',
      object({
        a: { ...text, pattern: '(' },
        b: { ...text, pattern: '^(?=x)' },
        c: { ...text, pattern: '\\pL+' },
        d: { ...text, pattern: '(a{1000}){1000}' },
      }),
    ),
    spec(
      'bounds',
      object({
        a: { ...integer, minimum: 5, maximum: 1 },
        b: { ...text, minLength: -1, maxLength: -2 },
        c: list(text, { minItems: 3, maxItems: 1 }),
        d: { ...integer, multipleOf: 0 },
        e: { ...integer, exclusiveMinimum: true },
      }),
    ),
    spec(
      'what is left of JSON schema',
      object({
        a: { $ref: '#/x' },
        b: { definitions: { x: text } },
        c: { dependencies: { x: ['y'] } },
        d: { patternProperties: { x: text } },
        e: { additionalItems: true },
        f: { id: 'x', type: 'string' },
      }),
    ),
    spec('metadata', object({}, {})),
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
}
