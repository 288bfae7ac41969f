/** What the scheduler does at the edges: preferences, pools that are not as they should be, limits, shares of devices. */
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
} from './forms.ts'
import { change, make, type Scenario, step } from './scenario.ts'

const begun = (...objects: readonly Fields[]) => make(node('n1'), deviceClass(), ...objects)
/** One pod `p` with the claim `c`, over these devices of node n1. */
const single = (list: readonly Fields[], requests: readonly Fields[]): Scenario => [
  begun(slice('s1', 'n1', list)),
  make(claim('c', requests), pod('p', { r: 'claim:c' })),
]
const of = (name: string, model: string) => device(name, { model: { string: model } })
const isModel = (model: string) => cel(`device.attributes["${DRIVER}"].model == "${model}"`)
const preferred = firstAvailable('r', { name: 'best', ...isModel('a') }, { name: 'next', ...isModel('b') })
const shared = (capacity: Fields) => device('d0', {}, { allowMultipleAllocations: true, capacity })

export const limitScenarios: Readonly<Record<string, Scenario>> = {
  'first-available-on-another-node': [
    begun(node('n2'), slice('s1', 'n1', [of('d0', 'b')]), slice('s2', 'n2', [of('d0', 'a')])),
    make(claim('c', [preferred]), pod('p', { r: 'claim:c' })),
  ],
  'first-available-on-the-first-node': [
    begun(node('n2'), slice('s1', 'n1', [of('d0', 'a')]), slice('s2', 'n2', [of('d0', 'b')])),
    make(claim('c', [preferred]), pod('p', { r: 'claim:c' })),
  ],
  'all-of-an-incomplete-pool': [
    begun(poolSlice('s1', 'n1', { nodeName: 'n1', devices: devices('d0', 'd1') }, { resourceSliceCount: 2 })),
    make(claim('c', [exactly('r', { allocationMode: 'All' })]), pod('p', { r: 'claim:c' })),
  ],
  'more-than-a-claim-may-have': single(devices(...Array.from({ length: 34 }, (_, at) => `d${at}`)), [
    exactly('r', { count: 20 }),
    exactly('s', { count: 13 }),
  ]),
  'more-than-a-claim-may-have-of-all': single(devices(...Array.from({ length: 34 }, (_, at) => `d${at}`)), [
    exactly('r', { allocationMode: 'All' }),
  ]),
  'selector-of-a-class-that-fails': [
    make(node('n1'), deviceClass('gpu', isModel('a')), slice('s1', 'n1', devices('d0'))),
    make(claim('c'), pod('p', { r: 'claim:c' })),
  ],
  'two-devices-of-one-name': [
    begun(
      poolSlice('s1', 'n1', { nodeName: 'n1', devices: devices('d0') }, { resourceSliceCount: 2 }),
      poolSlice('s2', 'n1', { nodeName: 'n1', devices: devices('d0') }, { resourceSliceCount: 2 }),
    ),
    make(claim('c'), pod('p', { r: 'claim:c' })),
  ],
  'shares-of-one-request': single(
    [shared({ memory: { value: '10Gi', requestPolicy: { default: '1Gi', validValues: ['1Gi', '4Gi'] } } })],
    [exactly('r', { count: 2, capacity: { requests: { memory: '2Gi' } } })],
  ),
  'capacity-of-whole-devices': single(
    [
      device('d0', {}, { capacity: { memory: { value: '1Gi' } } }),
      device('d1', {}, { capacity: { memory: { value: '4Gi' } } }),
    ],
    [exactly('r', { capacity: { requests: { memory: '2Gi' } } })],
  ),
  'reserved-for-as-many-as-may': [
    begun(slice('s1', 'n1', devices('d0'))),
    make(claim('c')),
    step(
      change(
        'resourceclaims',
        'c',
        {
          status: {
            allocation: {
              allocationTimestamp: '2026-01-01T00:00:00Z',
              devices: { results: [{ request: 'r', driver: DRIVER, pool: 'n1', device: 'd0' }] },
            },
            reservedFor: Array.from({ length: 256 }, (_, at) => ({
              apiGroup: 'example.com',
              resource: 'others',
              name: `o${at}`,
              uid: `o${at}`,
            })),
          },
        },
        'status',
      ),
    ),
    make(pod('q', { r: 'claim:c' })),
  ],
}
