/** Resource claims, slices and device classes that use every part of their types (API concept: Dynamic Resource Allocation). */
import type { CorpusEntry } from '../mutations.ts'
import { entry } from './entry.ts'

const exactly = {
  deviceClassName: 'gpu.example.com',
  selectors: [{ cel: { expression: "device.driver == 'gpu.example.com'" } }],
  allocationMode: 'ExactCount',
  count: 2,
  tolerations: [{ key: 'example.com/t', operator: 'Equal', value: 'v', effect: 'NoExecute', tolerationSeconds: 5 }],
  capacity: { requests: { memory: '1Gi' } },
}
const claimSpec = {
  devices: {
    requests: [
      { name: 'one', exactly },
      {
        name: 'any',
        firstAvailable: [
          { name: 'big', deviceClassName: 'big.example.com', allocationMode: 'All' },
          {
            name: 'small',
            deviceClassName: 'small.example.com',
            count: 1,
            tolerations: [{ key: 'a', operator: 'Exists' }],
          },
        ],
      },
    ],
    constraints: [
      { requests: ['one', 'any/big'], matchAttribute: 'gpu.example.com/numa' },
      { requests: ['any'], distinctAttribute: 'gpu.example.com/id' },
    ],
    config: [{ requests: ['one'], opaque: { driver: 'gpu.example.com', parameters: { kind: 'X', a: 1 } } }],
  },
}
export const richDevices: readonly CorpusEntry[] = [
  entry('resource.k8s.io/v1', 'deviceclasses', 'DeviceClass', 'rich-dc', {
    spec: {
      selectors: [
        { cel: { expression: "device.driver == 'gpu.example.com' && device.attributes['gpu.example.com'].numa > 1" } },
      ],
      config: [{ opaque: { driver: 'gpu.example.com', parameters: { a: 'b' } } }],
      extendedResourceName: 'example.com/gpu',
    },
  }),
  entry('resource.k8s.io/v1 ns', 'resourceclaims', 'ResourceClaim', 'rc', { spec: claimSpec }),
  entry('resource.k8s.io/v1 ns', 'resourceclaimtemplates', 'ResourceClaimTemplate', 'rct', {
    spec: { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } }, spec: claimSpec },
  }),
  entry('resource.k8s.io/v1', 'resourceslices', 'ResourceSlice', 'rich-slice', {
    spec: {
      driver: 'gpu.example.com',
      pool: { name: 'pool/a', generation: 2, resourceSliceCount: 3 },
      nodeName: 'n1',
      devices: [
        {
          name: 'd0',
          attributes: {
            numa: { int: 1 },
            'gpu.example.com/id': { string: 'x' },
            ok: { bool: true },
            ver: { version: '1.2.3' },
          },
          capacity: {
            memory: {
              value: '16Gi',
              requestPolicy: { default: '1Gi', validRange: { min: '1Gi', max: '8Gi', step: '1Gi' } },
            },
            slots: { value: '4', requestPolicy: { default: '1', validValues: ['1', '2'] } },
          },
          allowMultipleAllocations: true,
          taints: [{ key: 'example.com/bad', value: 'v', effect: 'NoSchedule', timeAdded: '2026-01-01T00:00:00Z' }],
        },
        { name: 'd1', attributes: { numa: { int: 2 } } },
      ],
    },
  }),
  entry('resource.k8s.io/v1', 'resourceslices', 'ResourceSlice', 'rich-counters', {
    spec: {
      driver: 'gpu.example.com',
      pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
      nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] }] },
      sharedCounters: [{ name: 'set', counters: { memory: { value: '16Gi' }, cores: { value: '8' } } }],
    },
  }),
  entry('resource.k8s.io/v1', 'resourceslices', 'ResourceSlice', 'rich-partitions', {
    spec: {
      driver: 'gpu.example.com',
      pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
      perDeviceNodeSelection: true,
      devices: [
        {
          name: 'a',
          nodeName: 'n',
          consumesCounters: [{ counterSet: 'set', counters: { memory: { value: '1Gi' } } }],
          bindsToNode: true,
          bindingConditions: ['ready'],
          bindingFailureConditions: ['failed'],
        },
        { name: 'b', allNodes: true },
      ],
    },
  }),
  entry('resource.k8s.io/v1', 'devicetaintrules', 'DeviceTaintRule', 'rich-dtr', {
    spec: {
      deviceSelector: { driver: 'gpu.example.com', pool: 'p', device: 'd' },
      taint: { key: 'example.com/k', value: 'v', effect: 'NoExecute' },
    },
  }),
]
