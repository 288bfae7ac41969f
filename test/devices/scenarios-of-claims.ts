/** Claims, and how the scheduler finds devices for them. */
import type { Fields } from '../../src/api/object.ts'
import {
  cel,
  claim,
  DRIVER,
  device,
  deviceClass,
  devices,
  exactly,
  firstAvailable,
  node,
  pod,
  poolSlice,
  slice,
  template,
} from './forms.ts'
import { change, make, remove, type Scenario, step, wait } from './scenario.ts'

const two = devices('d0', 'd1')
const model = (value: string): Fields => ({ model: { string: value } })
const finished = (name: string) => change('pods', name, { status: { phase: 'Succeeded' } }, 'status')
const begun = (...objects: readonly Fields[]) => make(node('n1'), deviceClass(), ...objects)
/** One request, one pod `p` with the claim `c`, over these devices of node n1. */
const single = (list: readonly Fields[], requests: readonly Fields[], more: Fields = {}, ...others: Fields[]) => [
  begun(slice('s1', 'n1', list), ...others),
  make(claim('c', requests, more), pod('p', { r: 'claim:c' })),
]

export const claimScenarios: Readonly<Record<string, Scenario>> = {
  'template-whole-life': [
    begun(slice('s1', 'n1', two), template('t')),
    make(pod('p', { gpu: 'template:t' })),
    step(finished('p')),
    step(remove('pods', 'p')),
  ],
  'template-pod-deleted-while-running': [
    begun(slice('s1', 'n1', two), template('t')),
    make(pod('p', { gpu: 'template:t', other: 'template:t' })),
    step(remove('pods', 'p')),
  ],
  'template-missing': [
    begun(slice('s1', 'n1', two)),
    make(pod('p', { gpu: 'template:t' })),
    wait(6000, make(template('t'))),
    step(remove('pods', 'p')),
  ],
  'template-claim-deleted-by-user': [
    begun(template('t')),
    make(pod('p', { gpu: 'template:t' })),
    wait(5000, make(slice('s1', 'n1', two))),
  ],
  'claim-whole-life': [
    begun(slice('s1', 'n1', two)),
    make(claim('c'), pod('p', { r: 'claim:c' })),
    step(finished('p')),
    step(remove('pods', 'p')),
    step(remove('resourceclaims', 'c')),
  ],
  'claim-missing': [begun(slice('s1', 'n1', two)), make(pod('p', { r: 'claim:c' })), wait(4000, make(claim('c')))],
  'claim-deleted-while-reserved': [
    begun(slice('s1', 'n1', two)),
    make(claim('c'), pod('p', { r: 'claim:c' })),
    step(remove('resourceclaims', 'c')),
    make(pod('q', { r: 'claim:c' })),
    step(remove('pods', 'p')),
  ],
  'claim-shared': [
    begun(slice('s1', 'n1', two)),
    make(claim('c'), pod('p', { r: 'claim:c' })),
    make(pod('q', { r: 'claim:c' })),
    step(remove('pods', 'p')),
    step(remove('pods', 'q')),
  ],
  'pod-deleted-before-scheduling': [
    begun(template('t')),
    make(pod('p', { gpu: 'template:t' })),
    step(remove('pods', 'p')),
  ],
  'claims-two': [
    begun(slice('s1', 'n1', two)),
    make(claim('c'), claim('e'), pod('p', { r: 'claim:c', s: 'claim:e' })),
    step(remove('pods', 'p')),
  ],
  'class-missing': [
    make(node('n1'), slice('s1', 'n1', two)),
    make(claim('c'), pod('p', { r: 'claim:c' })),
    wait(4000, make(deviceClass())),
  ],
  'not-enough': [
    begun(slice('s1', 'n1', two), node('n2')),
    make(claim('c', [exactly('r', { count: 3 })]), pod('p', { r: 'claim:c' })),
    wait(5000, make(slice('s2', 'n2', devices('a', 'b', 'c')))),
  ],
  'freed-for-another': [
    begun(slice('s1', 'n1', devices('d0'))),
    make(claim('c'), pod('p', { r: 'claim:c' })),
    make(claim('e'), pod('q', { r: 'claim:e' })),
    wait(5000, step(remove('pods', 'p'))),
  ],
  'all-devices': single(devices('d0', 'd1', 'd2'), [exactly('r', { allocationMode: 'All' })]),
  'all-when-one-is-taken': [
    ...single(devices('d0', 'd1'), [exactly('r')]),
    make(claim('e', [exactly('r', { allocationMode: 'All' })]), pod('q', { r: 'claim:e' })),
  ],
  'all-of-none': single([], [exactly('r', { allocationMode: 'All' })]),
  'several-requests': single(devices('d0', 'd1', 'd2', 'd3'), [exactly('r', { count: 2 }), exactly('s')]),
  'selectors-of-requests': single(
    [device('d0', model('a')), device('d1', model('b')), device('d2', model('b'))],
    [
      exactly('r', cel(`device.attributes["${DRIVER}"].model == "b"`)),
      exactly('s', cel(`device.attributes["${DRIVER}"].model == "b"`)),
    ],
  ),
  'selector-by-capacity': single(
    [
      device('d0', {}, { capacity: { memory: { value: '1Gi' } } }),
      device('d1', {}, { capacity: { memory: { value: '4Gi' } } }),
    ],
    [exactly('r', cel(`device.capacity["${DRIVER}"].memory.compareTo(quantity("2Gi")) >= 0`))],
  ),
  'selector-that-fails': single(devices('d0'), [exactly('r', cel(`device.attributes["${DRIVER}"].model == "b"`))]),
  'first-available': single(
    [device('d0', model('a')), device('d1', model('b'))],
    [
      firstAvailable(
        'r',
        { name: 'big', ...cel(`device.attributes["${DRIVER}"].model == "c"`) },
        { name: 'small', ...cel(`device.attributes["${DRIVER}"].model == "b"`) },
        { name: 'any' },
      ),
    ],
    { config: [{ requests: ['r/small'], opaque: { driver: DRIVER, parameters: { speed: 'low' } } }] },
  ),
  'match-attribute': single(
    [device('d0', model('a')), device('d1', model('b')), device('d2', model('b'))],
    [exactly('r', { count: 2 })],
    { constraints: [{ matchAttribute: `${DRIVER}/model` }] },
  ),
  'match-attribute-in-vain': single(
    [device('d0', model('a')), device('d1', model('b'))],
    [exactly('r', { count: 2 })],
    { constraints: [{ matchAttribute: `${DRIVER}/model` }] },
  ),
  'distinct-attribute': single(
    [device('d0', model('a')), device('d1', model('a')), device('d2', model('b'))],
    [exactly('r'), exactly('s')],
    { constraints: [{ distinctAttribute: `${DRIVER}/model`, requests: ['r', 's'] }] },
  ),
  'backtracking-over-requests': single(
    [device('d0', model('a')), device('d1', model('b')), device('d2', model('b'))],
    [exactly('r'), exactly('s', cel(`device.attributes["${DRIVER}"].model == "a"`))],
  ),
  configurations: [
    begun(
      slice('s1', 'n1', two),
      deviceClass('set', { config: [{ opaque: { driver: DRIVER, parameters: { of: 'class' } } }] }),
    ),
    make(
      claim('c', [exactly('r', { deviceClassName: 'set' }), exactly('s')], {
        config: [
          { requests: ['r'], opaque: { driver: DRIVER, parameters: { of: 'r' } } },
          { opaque: { driver: 'other.example.com', parameters: { of: 'all' } } },
        ],
      }),
      pod('p', { r: 'claim:c' }),
    ),
  ],
  'admin-access': [
    ...single(devices('d0'), [exactly('r')]),
    make(claim('e', [exactly('r', { adminAccess: true })]), pod('q', { r: 'claim:e' })),
    make(claim('f', [exactly('r', { adminAccess: true, allocationMode: 'All' })]), pod('s', { r: 'claim:f' })),
    step(remove('pods', 'p')),
  ],
  'all-nodes': [
    begun(node('n2', { zone: 'z' }), poolSlice('s1', 'net', { allNodes: true, devices: two })),
    make(claim('c'), pod('p', { r: 'claim:c' }, { nodeSelector: { zone: 'none' } })),
    make(claim('e'), pod('q', { r: 'claim:e' }, { nodeSelector: { zone: 'z' } })),
  ],
  'node-selector-of-a-slice': [
    begun(
      node('n2', { zone: 'z' }),
      poolSlice('s1', 'net', {
        nodeSelector: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['z'] }] }] },
        devices: two,
      }),
    ),
    make(claim('c'), pod('p', { r: 'claim:c' })),
    make(pod('q', { r: 'claim:c' })),
  ],
  'per-device-node-selection': [
    begun(
      node('n2'),
      poolSlice('s1', 'net', {
        perDeviceNodeSelection: true,
        devices: [
          device('d0', {}, { nodeName: 'n3' }),
          device('d1', {}, { nodeName: 'n2' }),
          device('d2', {}, { allNodes: true }),
        ],
      }),
    ),
    make(claim('c', [exactly('r', { count: 2 })]), pod('p', { r: 'claim:c' })),
    make(claim('e', [exactly('r', { count: 3 })]), pod('q', { r: 'claim:e' })),
  ],
  'claim-binds-to-its-node': [
    begun(node('n2'), slice('s1', 'n1', devices('d0'))),
    make(claim('c'), pod('p', { r: 'claim:c' })),
    step(change('nodes', 'n1', { spec: { unschedulable: true } })),
    make(pod('q', { r: 'claim:c' })),
    step(finished('p')),
  ],
  'allocated-elsewhere-but-free': [
    begun(slice('s1', 'n1', devices('d0'))),
    make(claim('c'), pod('p', { r: 'claim:c' })),
    step(change('nodes', 'n1', { spec: { unschedulable: true } })),
    make(node('n2'), slice('s2', 'n2', devices('d0'))),
    make(pod('q', { r: 'claim:c' })),
    wait(5000, step(remove('pods', 'p'))),
  ],
  'incomplete-pool': [
    begun(poolSlice('s1', 'n1', { nodeName: 'n1', devices: two }, { resourceSliceCount: 2 })),
    make(claim('c'), pod('p', { r: 'claim:c' })),
    wait(5000, make(poolSlice('s2', 'n1', { nodeName: 'n1', devices: devices('d2') }, { resourceSliceCount: 2 }))),
  ],
  'older-generation': [
    begun(
      poolSlice('s1', 'n1', { nodeName: 'n1', devices: two }, { generation: 1 }),
      poolSlice('s2', 'n1', { nodeName: 'n1', devices: devices('n0') }, { generation: 2 }),
    ),
    make(claim('c'), pod('p', { r: 'claim:c' })),
  ],
  'several-pools': [
    begun(
      poolSlice('s1', 'z-pool', { nodeName: 'n1', devices: devices('d1', 'd0') }),
      poolSlice('s2', 'a-pool', { nodeName: 'n1', devices: devices('d1', 'd0') }, { resourceSliceCount: 2 }),
      poolSlice('s3', 'a-pool', { nodeName: 'n1', devices: devices('d3') }, { resourceSliceCount: 2 }),
    ),
    make(claim('c', [exactly('r', { count: 4 })]), pod('p', { r: 'claim:c' })),
    make(claim('e'), pod('q', { r: 'claim:e' })),
  ],
  'taint-not-tolerated': [
    begun(slice('s1', 'n1', [device('d0', {}, { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] })])),
    make(claim('c'), pod('p', { r: 'claim:c' })),
    make(
      claim('e', [exactly('r', { tolerations: [{ key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule' }] })]),
      pod('q', { r: 'claim:e' }),
    ),
  ],
  'taint-none': single([device('d0', {}, { taints: [{ key: 'k', effect: 'None' }] })], [exactly('r')]),
  counters: [
    begun(
      poolSlice(
        'counters',
        'n1',
        { sharedCounters: [{ name: 'set', counters: { memory: { value: '4Gi' } } }], nodeName: 'n1' },
        { resourceSliceCount: 2 },
      ),
      poolSlice(
        's1',
        'n1',
        {
          nodeName: 'n1',
          devices: ['3Gi', '2Gi', '1Gi', '1Gi'].map((value, at) =>
            device(`d${at}`, {}, { consumesCounters: [{ counterSet: 'set', counters: { memory: { value } } }] }),
          ),
        },
        { resourceSliceCount: 2 },
      ),
    ),
    make(claim('c', [exactly('r', { count: 2 })]), pod('p', { r: 'claim:c' })),
    make(claim('e'), pod('q', { r: 'claim:e' })),
    make(claim('f', [exactly('r', { count: 3 })]), pod('s', { r: 'claim:f' })),
    wait(5000, step(remove('pods', 'p'))),
  ],
  'consumable-capacity': [
    begun(
      slice('s1', 'n1', [
        device(
          'd0',
          {},
          {
            allowMultipleAllocations: true,
            capacity: {
              memory: { value: '10Gi', requestPolicy: { default: '1Gi', validRange: { min: '1Gi', step: '1Gi' } } },
              shares: { value: '4' },
            },
          },
        ),
      ]),
    ),
    make(
      claim('c', [exactly('r', { capacity: { requests: { memory: '2500Mi', shares: '1' } } })]),
      pod('p', { r: 'claim:c' }),
    ),
    make(claim('e', [exactly('r', { capacity: { requests: { shares: '1' } } })]), pod('q', { r: 'claim:e' })),
    make(
      claim('f', [exactly('r', { capacity: { requests: { memory: '8Gi', shares: '1' } } })]),
      pod('s', { r: 'claim:f' }),
    ),
    wait(5000, step(remove('pods', 'p'))),
    make(claim('g'), pod('u', { r: 'claim:g' })),
  ],
  'binding-conditions': [
    begun(
      slice('s1', 'n1', [
        device('d0', {}, { bindsToNode: true, bindingConditions: ['attached'], bindingFailureConditions: ['broken'] }),
      ]),
    ),
    make(claim('c'), pod('p', { r: 'claim:c' })),
    wait(
      8000,
      step(
        change(
          'resourceclaims',
          'c',
          {
            status: {
              devices: [
                {
                  driver: DRIVER,
                  pool: 'n1',
                  device: 'd0',
                  conditions: [
                    {
                      type: 'attached',
                      status: 'True',
                      reason: 'r',
                      message: '',
                      lastTransitionTime: '2026-01-01T00:00:00Z',
                    },
                  ],
                },
              ],
            },
          },
          'status',
        ),
      ),
    ),
    step(remove('pods', 'p')),
  ],
  'binding-conditions-fail': [
    begun(
      slice('s1', 'n1', [device('d0', {}, { bindingConditions: ['attached'], bindingFailureConditions: ['broken'] })]),
    ),
    make(claim('c'), pod('p', { r: 'claim:c' })),
    wait(
      12_000,
      step(
        change(
          'resourceclaims',
          'c',
          {
            status: {
              devices: [
                {
                  driver: DRIVER,
                  pool: 'n1',
                  device: 'd0',
                  conditions: [
                    {
                      type: 'broken',
                      status: 'True',
                      reason: 'r',
                      message: '',
                      lastTransitionTime: '2026-01-01T00:00:00Z',
                    },
                  ],
                },
              ],
            },
          },
          'status',
        ),
      ),
    ),
  ],
}
