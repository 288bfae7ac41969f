/** Extended resources that a DeviceClass backs with devices (KEP-5004). */
import type { Fields } from '../../src/api/object.ts'
import { claim, deviceClass, devices, node, pod, slice } from './forms.ts'
import { change, make, remove, type Scenario, step, wait } from './scenario.ts'

const GPU = 'example.com/gpu'
const backed = () => deviceClass('gpu', { extendedResourceName: GPU })
const asks = (amounts: Fields): Fields => ({ resources: { requests: amounts, limits: amounts } })
const asking = (name: string, ...amounts: readonly Fields[]) =>
  pod(name, {}, { containers: amounts.map((amount, at) => ({ name: `c${at}`, image: 'i', ...asks(amount) })) })
const onNode = (amount: string): Fields => {
  const made = node('n2')
  return { ...made, status: { ...made['status'], capacity: { ...made['status'].capacity, [GPU]: amount } } }
}

export const extendedScenarios: Readonly<Record<string, Scenario>> = {
  'extended-resource': [
    make(node('n1'), backed(), slice('s1', 'n1', devices('d0', 'd1'))),
    make(asking('p', { [GPU]: '1' })),
    step(change('pods', 'p', { status: { phase: 'Succeeded' } }, 'status')),
    step(remove('pods', 'p')),
  ],
  'extended-resource-of-several-containers': [
    make(node('n1'), backed(), slice('s1', 'n1', devices('d0', 'd1', 'd2', 'd3'))),
    make(asking('p', { [GPU]: '2' }, { cpu: '1' }, { [GPU]: '1', 'deviceclass.resource.kubernetes.io/gpu': '1' })),
    step(remove('pods', 'p')),
  ],
  'extended-resource-not-enough': [
    make(node('n1'), node('n2'), backed(), slice('s1', 'n1', devices('d0'))),
    make(asking('p', { [GPU]: '2' })),
    wait(5000, make(slice('s2', 'n2', devices('a', 'b')))),
  ],
  'extended-resource-of-a-plugin': [
    make(backed(), onNode('3')),
    make(asking('p', { [GPU]: '2' })),
    make(asking('q', { [GPU]: '2' })),
  ],
  'extended-resource-without-a-class': [make(node('n1'), deviceClass()), make(asking('p', { [GPU]: '1' }))],
  'extended-resource-and-a-claim': [
    make(node('n1'), backed(), slice('s1', 'n1', devices('d0', 'd1'))),
    make(claim('c'), pod('p', { r: 'claim:c' }, { containers: [{ name: 'c', image: 'i', ...asks({ [GPU]: '1' }) }] })),
    step(remove('pods', 'p')),
  ],
}
