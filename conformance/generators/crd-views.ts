/** How custom resources are shown and found: columns, tables, selectable fields. */
import type { Case } from '../recording.ts'
import {
  type Any,
  about,
  definition,
  definitions,
  get,
  integer,
  list,
  object,
  path,
  post,
  remove,
  table,
  text,
  version,
  widget,
} from './definitions.ts'
import { a, spec, v1 } from './one-version.ts'

const columns = (...given: readonly (readonly [type: string, jsonPath: string, more?: Any])[]) => ({
  additionalPrinterColumns: given.map(([type, jsonPath, more], i) => ({ name: `C${i}`, type, jsonPath, ...more })),
})

export const views: readonly Case[] = [
  about(
    'columns',
    v1(
      object({
        s: text,
        i: integer,
        n: { type: 'number' },
        b: { type: 'boolean' },
        d: text,
        l: list(object({ name: text, on: { type: 'boolean' }, n: integer })),
        o: object({ x: text }),
        t: list(text),
      }),
      columns(
        ...(['string', 'integer', 'number', 'boolean', 'date'] as const).flatMap((type) =>
          (['s', 'i', 'n', 'b', 'd', 'o', 't', 'none'] as const).map((name) => [type, `.spec.${name}`] as const),
        ),
        ['string', '.spec.l[0].name'],
        ['string', '.spec.l[-1].name'],
        ['string', '.spec.l[5].name'],
        ['string', '.spec.l[*].name'],
        ['string', '.spec.l[?(@.on==true)].name'],
        ['string', '.spec.l[?(@.name=="q")].n'],
        ['integer', '.spec.l[?(@.n>1)].n'],
        ['string', '.spec.l[0:2].name'],
        ['string', '.spec.t[*]'],
        ['string', '.spec.o.*'],
        ['string', '.metadata.labels.a\\.b/c'],
        ['string', ".metadata.labels['a.b/c']"],
        ['string', '.spec'],
        ['string', '.spec.l[*]'],
        ['date', '.metadata.creationTimestamp', { format: 'date-time', description: 'D', priority: 1 }],
        ['string', '.spec.s', { format: 'byte', priority: -1 }],
      ),
    ),
    [
      post(
        path('v1'),
        widget(
          {
            s: 'text',
            i: 7,
            n: 1.5,
            b: true,
            d: '2001-01-01T00:00:00Z',
            l: [
              { name: 'p', on: true, n: 1 },
              { name: 'q', on: false, n: 2 },
              { name: 'r', on: true, n: 3 },
            ],
            o: { x: 'y' },
            t: ['a', 'b'],
          },
          { metadata: { name: 'a', labels: { 'a.b/c': 'd' } } },
        ),
      ),
      post(path('v1'), widget({ i: 0, n: 3, b: false, s: '', l: [], t: [] }, { metadata: { name: 'b' } })),
      get(path('v1'), table),
      get(a, table),
      get(`${path('v1')}?includeObject=None`, table),
      get(`${path('v1')}?includeObject=Object`, table),
      get(a, { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' }),
      remove(a),
    ],
  ),
  about(
    'columns of several versions, none of them, and errors',
    definition([
      version('v1', object({ s: text }), columns(['string', '.spec.s'])),
      version('v2', object({ s: text })),
    ]),
    [
      post(path('v1'), widget({ s: 'x' })),
      get(path('v1'), table),
      get(path('v2'), table),
      ...[
        'spec.s',
        '',
        '.spec.s[',
        '.spec{.s}',
        '$.spec.s',
        '.spec.s[?(@.x',
        '.spec["s"]',
        '.',
        '.spec.s s',
        '{.spec.s}',
      ].map((jsonPath) =>
        post(
          `${definitions}?dryRun=All`,
          definition([version('v1', object({ s: text }), columns(['string', jsonPath]))], {}, 'others', 'Other'),
        ),
      ),
    ],
  ),
  about(
    'selectable fields',
    definition([
      version(
        'v1',
        object({ mode: text, size: integer, on: { type: 'boolean' }, o: object({ x: { ...text, default: 'dx' } }) }),
        {
          selectableFields: [
            { jsonPath: '.spec.mode' },
            { jsonPath: '.spec.size' },
            { jsonPath: '.spec.on' },
            { jsonPath: '.spec.o.x' },
          ],
        },
      ),
      version('v2', object({ mode: text }), { selectableFields: [{ jsonPath: '.spec.mode' }] }),
    ]),
    [
      post(path('v1'), widget({ mode: 'x', size: 3, on: true, o: {} })),
      post(path('v1'), widget({ mode: 'y', size: 0 }, { metadata: { name: 'b' } })),
      ...[
        'spec.mode=x',
        'spec.mode!=x',
        'spec.mode=',
        'spec.size=3',
        'spec.size=0',
        'spec.on=true',
        'spec.o.x=dx',
        'spec.o.x=',
        'spec.none=1',
        '.spec.mode=x',
        'metadata.name=a,spec.mode=x',
        'metadata.namespace=$NS',
        'spec.mode=x,spec.mode=y',
        'metadata.uid=x',
        'spec.mode in (x)',
      ].map((selector) => get(`${path('v1')}?fieldSelector=${encodeURIComponent(selector).replace('%24NS', '$NS')}`)),
      get(`${path('v2')}?fieldSelector=spec.mode%3Dx`),
      get(`${path('v2')}?fieldSelector=spec.size%3D3`),
      spec({ mode: 'y' }),
      get(
        `${path('v1')}?watch=true&timeoutSeconds=1&resourceVersion={{2.metadata.resourceVersion}}&fieldSelector=spec.mode%3Dx`,
      ),
      get(
        `${path('v1')}?watch=true&timeoutSeconds=1&resourceVersion={{2.metadata.resourceVersion}}&fieldSelector=spec.mode%3Dy`,
      ),
      remove(`${path('v1')}?fieldSelector=spec.size%3D3`),
      get(path('v1')),
    ],
  ),
]
