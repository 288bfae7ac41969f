/** Taints of devices that evict the pods that have them. */
import type { Fields } from '../../src/api/object.ts'
import { claim, DRIVER, device, deviceClass, devices, exactly, node, pod, slice, taintRule, template } from './forms.ts'
import { change, make, remove, type Scenario, step, wait } from './scenario.ts'

const _two = devices('d0', 'd1')
const _model = (value: string): Fields => ({ model: { string: value } })
const _finished = (name: string) => change('pods', name, { status: { phase: 'Succeeded' } }, 'status')
const begun = (...objects: readonly Fields[]) => make(node('n1'), deviceClass(), ...objects)
/** One request, one pod `p` with the claim `c`, over these devices of node n1. */
const _single = (list: readonly Fields[], requests: readonly Fields[], more: Fields = {}, ...others: Fields[]) => [
  begun(slice('s1', 'n1', list), ...others),
  make(claim('c', requests, more), pod('p', { r: 'claim:c' })),
]

export const taintScenarios: Readonly<Record<string, Scenario>> = {
  'taint-evicts': [
    begun(slice('s1', 'n1', devices('d0')), template('t')),
    make(pod('p', { r: 'template:t' })),
    step(
      change('resourceslices', 's1', {
        spec: { devices: [device('d0', {}, { taints: [{ key: 'k', effect: 'NoExecute' }] })] },
      }),
    ),
    wait(4000),
  ],
  'taint-evicts-later': [
    begun(slice('s1', 'n1', devices('d0', 'd1'))),
    make(
      claim('c', [
        exactly('r', { tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 4 }] }),
      ]),
      pod('p', { r: 'claim:c' }),
      claim('e', [
        exactly('r', { tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 8 }] }),
      ]),
      pod('q', { r: 'claim:e' }),
    ),
    wait(
      6000,
      step(
        change('resourceslices', 's1', {
          spec: {
            devices: ['d0', 'd1'].map((name) => device(name, {}, { taints: [{ key: 'k', effect: 'NoExecute' }] })),
          },
        }),
      ),
    ),
    wait(4000, step(change('resourceslices', 's1', { spec: { devices: devices('d0', 'd1') } }))),
  ],
  'taint-rule': [
    begun(slice('s1', 'n1', devices('d0', 'd1'))),
    make(claim('c'), pod('p', { r: 'claim:c' })),
    wait(
      14_000,
      make(
        taintRule('rule', {
          deviceSelector: { driver: DRIVER, device: 'd0' },
          taint: { key: 'k', effect: 'NoExecute' },
        }),
      ),
    ),
    make(claim('e'), pod('q', { r: 'claim:e' })),
    make(claim('f'), pod('s', { r: 'claim:f' })),
    wait(5000, step(remove('devicetaintrules', 'rule'))),
  ],
  'taint-rule-without-effect': [
    begun(slice('s1', 'n1', devices('d0', 'd1', 'd2'))),
    make(claim('c'), pod('p', { r: 'claim:c' }), claim('e'), pod('q', { r: 'claim:e' })),
    wait(12_000, make(taintRule('rule', { deviceSelector: { pool: 'n1' }, taint: { key: 'k', effect: 'None' } }))),
    wait(
      14_000,
      step(change('devicetaintrules', 'rule', { spec: { taint: { key: 'k', effect: 'NoExecute', timeAdded: null } } })),
    ),
  ],
  'taint-rule-for-nobody': [
    begun(slice('s1', 'n1', devices('d0'))),
    wait(12_000, make(taintRule('rule', { deviceSelector: { pool: 'n1' }, taint: { key: 'k', effect: 'NoExecute' } }))),
    make(claim('c'), pod('p', { r: 'claim:c' })),
  ],
  'taint-rule-tolerated-for-a-while': [
    begun(slice('s1', 'n1', devices('d0', 'd1'))),
    make(
      claim('c', [
        exactly('r', { tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 6 }] }),
      ]),
      pod('p', { r: 'claim:c' }),
      claim('e', [exactly('r', { tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoExecute' }] })]),
      pod('q', { r: 'claim:e' }),
    ),
    wait(3000, make(taintRule('rule', { deviceSelector: { pool: 'n1' }, taint: { key: 'k', effect: 'NoExecute' } }))),
    wait(20_000),
  ],
  'taint-rule-not-to-schedule': [
    begun(slice('s1', 'n1', devices('d0', 'd1'))),
    make(
      taintRule('rule', { deviceSelector: { pool: 'n1', device: 'd0' }, taint: { key: 'k', effect: 'NoSchedule' } }),
    ),
    make(claim('c'), pod('p', { r: 'claim:c' })),
  ],
}
