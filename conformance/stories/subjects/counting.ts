/** Quotas and ranges: what is counted in which scope, when it is counted again, and what controllers do when they are refused. */
import type { Fields } from '../../../src/api/object.ts'
import {
  aff,
  claim,
  dep,
  job,
  kjob,
  pc,
  pod,
  pv,
  pvcPod,
  quota,
  res,
  rm,
  rs,
  running,
  sts,
  svc,
  tried,
} from '../objects.ts'
import type { Scene, Story } from '../story.ts'

const used = async (s: Scene, name = 'q') => {
  const { status } = await s.get('resourcequotas', name)
  s.note(`${name}: ${JSON.stringify(Object.fromEntries(Object.entries((status?.used ?? {}) as Fields).toSorted()))}`)
}
const counted = (s: Scene, name = 'q') => s.untilObj('resourcequotas', name, ({ status }) => status?.used !== undefined)
const idle = { nodeName: 'idle' }
const requests = (values: Fields, limits: Fields = {}) => ({
  containers: [{ name: 'c', image: 'i', resources: { requests: values, limits } }],
})
const range = (limits: readonly object[]) => ({
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name: 'l' },
  spec: { limits },
})

export const countingStories = {
  'rs-refused-in-batches': {
    async act(s) {
      await s.create('resourcequotas', quota('q', { pods: '5' }))
      await counted(s)
      await s.create('replicasets', rs('a', { replicas: 15 }, idle))
      await s.pause(3000)
      await s.patch('resourcequotas', 'q', { spec: { hard: { pods: '20' } } })
      await s.untilPods(15)
      await s.pause(2000)
    },
  },
  'quota-affinity-across-namespaces': {
    async act(s) {
      await s.create(
        'resourcequotas',
        quota(
          'q',
          { pods: '1' },
          { scopeSelector: { matchExpressions: [{ scopeName: 'CrossNamespacePodAffinity', operator: 'Exists' }] } },
        ),
      )
      await counted(s)
      const far = (name: string, term: Fields) => {
        const affinity = aff('kubernetes.io/hostname', { app: 'x' }) as Fields
        const [required] = affinity['podAffinity'].requiredDuringSchedulingIgnoredDuringExecution
        return pod(name, {
          ...idle,
          affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ ...required, ...term }] } },
        })
      }
      await tried(s, 'own', s.create('pods', far('own', {})))
      await tried(s, 'named', s.create('pods', far('named', { namespaces: ['other'] })))
      await tried(s, 'selected', s.create('pods', far('selected', { namespaceSelector: {} })))
      await s.pause(2000)
      await used(s)
    },
  },
  'quota-of-storage-classes': {
    async act(s) {
      await s.create(
        'resourcequotas',
        quota('q', {
          persistentvolumeclaims: '3',
          'requests.storage': '10Gi',
          'gold.storageclass.storage.k8s.io/requests.storage': '4Gi',
          'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '2',
          'count/persistentvolumeclaims': '9',
        }),
      )
      await counted(s)
      const of = (name: string, storageClassName: string, storage: string) =>
        claim(name, { storageClassName, resources: { requests: { storage } } })
      await tried(s, 'a', s.create('persistentvolumeclaims', of('a', 'gold', '3Gi')))
      await tried(s, 'b', s.create('persistentvolumeclaims', of('b', 'gold', '2Gi')))
      await tried(s, 'c', s.create('persistentvolumeclaims', of('c', 'silver', '6Gi')))
      await tried(s, 'd', s.create('persistentvolumeclaims', of('d', 'silver', '2Gi')))
      await s.pause(2000)
      await used(s)
      await s.del('persistentvolumeclaims', 'c')
      await s.pause(2500)
      await used(s)
    },
  },
  'quota-services-change-type': {
    async act(s) {
      await s.create(
        'resourcequotas',
        quota('q', { services: '3', 'services.nodeports': '2', 'services.loadbalancers': '1' }),
      )
      await counted(s)
      await tried(
        s,
        'a',
        s.create(
          'services',
          svc('a', {
            type: 'NodePort',
            ports: [
              { name: 'x', port: 80 },
              { name: 'y', port: 81 },
            ],
          }),
        ),
      )
      await tried(
        s,
        'b',
        s.create('services', svc('b', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false })),
      )
      await tried(s, 'c', s.create('services', svc('c')))
      await tried(s, 'c to NodePort', s.patch('services', 'c', { spec: { type: 'NodePort' } }))
      await tried(s, 'a to ClusterIP', s.patch('services', 'a', { spec: { type: 'ClusterIP' } }))
      await s.pause(1000)
      await tried(s, 'c to NodePort', s.patch('services', 'c', { spec: { type: 'NodePort' } }))
      await tried(s, 'c to LoadBalancer', s.patch('services', 'c', { spec: { type: 'LoadBalancer' } }))
      await s.pause(2000)
      await used(s)
      await s.del('services', 'b')
      await s.pause(2500)
      await used(s)
    },
  },
  'quota-extended-and-ephemeral': {
    async act(s) {
      await s.create(
        'resourcequotas',
        quota('q', {
          'requests.example.com/gpu': '2',
          'requests.ephemeral-storage': '2Gi',
          'limits.ephemeral-storage': '3Gi',
          'hugepages-2Mi': '4Mi',
          'requests.hugepages-2Mi': '4Mi',
        }),
      )
      await counted(s)
      const all = (gpu: string) => ({
        ...idle,
        ...requests(
          { 'example.com/gpu': gpu, 'ephemeral-storage': '1Gi', 'hugepages-2Mi': '2Mi', cpu: '1' },
          { 'example.com/gpu': gpu, 'ephemeral-storage': '1Gi', 'hugepages-2Mi': '2Mi' },
        ),
      })
      await tried(s, 'a', s.create('pods', pod('a', all('1'))))
      await tried(s, 'b', s.create('pods', pod('b', all('2'))))
      await tried(s, 'c', s.create('pods', pod('c', { ...idle })))
      await s.pause(2000)
      await used(s)
    },
  },
  'quota-taken-away-and-back': {
    async act(s) {
      await s.create('resourcequotas', quota('q', { pods: '1', secrets: '1' }))
      await counted(s)
      await s.create('deployments', dep('a', { replicas: 2 }, idle))
      await s.pause(2500)
      await s.patch('resourcequotas', 'q', { spec: { hard: { pods: null, configmaps: '5' } } })
      await s.pause(2000)
      await used(s)
      await s.del('resourcequotas', 'q')
      await s.untilPods(2)
      await s.create('resourcequotas', quota('q', { pods: '1' }))
      await s.pause(2000)
      await used(s)
      s.note(
        JSON.stringify(
          (await s.get('deployments', 'a')).status.conditions.map(
            ({ type, status, reason }: Fields) => `${type} ${status} ${reason}`,
          ),
        ),
      )
    },
    restMs: 60_000,
  },
  'quota-refuses-replicasets': {
    async act(s) {
      await s.create('resourcequotas', quota('q', { 'count/replicasets.apps': '1' }))
      await counted(s)
      await s.create('deployments', dep('a', { replicas: 1 }))
      await s.untilPods(1, running)
      await s.patch('deployments', 'a', { spec: { template: { spec: { containers: [{ name: 'c', image: 'i:2' }] } } } })
      await s.pause(3000)
      await s.patch('deployments', 'a', { spec: { replicas: 3 } })
      await s.pause(3000)
    },
  },
  'quota-refuses-claims-of-a-set': {
    async act(s) {
      await s.create('resourcequotas', quota('q', { persistentvolumeclaims: '1' }))
      await counted(s)
      const claims = {
        volumeClaimTemplates: [
          {
            metadata: { name: 'd' },
            spec: {
              accessModes: ['ReadWriteOnce'],
              storageClassName: 'none',
              resources: { requests: { storage: '1Gi' } },
            },
          },
        ],
      }
      await s.create('statefulsets', sts('a', { replicas: 2, podManagementPolicy: 'Parallel', ...claims }, idle))
      await s.pause(4000)
      await s.patch('resourcequotas', 'q', { spec: { hard: { persistentvolumeclaims: '2' } } })
      await s.pause(4000)
    },
    restMs: 50_000,
  },
  'quota-job-pods-refused': {
    async act(s) {
      await s.create('resourcequotas', quota('q', { pods: '2' }))
      await counted(s)
      await s.create('jobs', job('j', { completions: 5, parallelism: 5 }))
      await s.pause(2500)
      s.note(JSON.stringify((await s.get('jobs', 'j')).status.active))
      for (const one of await s.untilPods(2)) await s.ended(one, 0)
      await s.pause(4000)
    },
    restMs: 60_000,
  },
  'quota-priority-classes': {
    async act(s) {
      await pc(s, 'one', 5)
      await pc(s, 'two', 7)
      const inClass = (operator: string, values?: readonly string[]) => ({
        scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator, ...(values ? { values } : {}) }] },
      })
      await s.create('resourcequotas', quota('q', { pods: '1' }, inClass('In', [`${s.ns}-one`, `${s.ns}-two`])))
      await s.create('resourcequotas', quota('none', { pods: '1' }, inClass('DoesNotExist')))
      await s.create('resourcequotas', quota('any', { pods: '5' }, inClass('Exists')))
      for (const name of ['q', 'none', 'any']) await counted(s, name)
      await tried(s, 'a', s.create('pods', pod('a', { ...idle, priorityClassName: `${s.ns}-one` })))
      await tried(s, 'b', s.create('pods', pod('b', { ...idle, priorityClassName: `${s.ns}-two` })))
      await tried(s, 'c', s.create('pods', pod('c', idle)))
      await tried(s, 'd', s.create('pods', pod('d', idle)))
      await s.pause(2000)
      for (const name of ['q', 'none', 'any']) await used(s, name)
    },
    clean: rm(['priorityclasses', 'one'], ['priorityclasses', 'two']),
  },
  'quota-pod-grows-in-place': {
    async act(s) {
      await s.create('resourcequotas', quota('q', { 'requests.cpu': '2', 'limits.cpu': '3' }))
      await counted(s)
      await s.create('pods', pod('a', { ...idle, ...requests({ cpu: '1' }, { cpu: '1' }) }))
      await tried(
        s,
        'to 2',
        s.patch(
          'pods',
          'a',
          {
            spec: {
              containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '2' }, limits: { cpu: '2' } } }],
            },
          },
          'resize',
        ),
      )
      await tried(
        s,
        'to 3',
        s.patch(
          'pods',
          'a',
          {
            spec: {
              containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '3' }, limits: { cpu: '3' } } }],
            },
          },
          'resize',
        ),
      )
      await s.pause(2000)
      await used(s)
      await s.status('pods', 'a', {
        phase: 'Running',
        containerStatuses: [
          {
            name: 'c',
            image: 'i',
            imageID: '',
            ready: true,
            restartCount: 0,
            allocatedResources: { cpu: '1' },
            resources: { requests: { cpu: '1' }, limits: { cpu: '1' } },
          },
        ],
      })
      await s.pause(2000)
      await used(s)
      await s.ended({ metadata: { name: 'a' } }, 0)
      await s.pause(2000)
      await used(s)
    },
  },
  'range-of-claims-and-pods': {
    async act(s) {
      await s.create(
        'limitranges',
        range([
          { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } },
          { type: 'Pod', max: { cpu: '2' }, maxLimitRequestRatio: { cpu: '2' } },
          { type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '500m' }, min: { cpu: '100m' } },
        ]),
      )
      await tried(
        s,
        'small claim',
        s.create('persistentvolumeclaims', claim('a', { resources: { requests: { storage: '500Mi' } } })),
      )
      await tried(
        s,
        'large claim',
        s.create('persistentvolumeclaims', claim('b', { resources: { requests: { storage: '3Gi' } } })),
      )
      await tried(s, 'claim', s.create('persistentvolumeclaims', claim('c')))
      await tried(s, 'pod', s.create('pods', pod('p', idle)))
      await tried(s, 'ratio', s.create('pods', pod('r', { ...idle, ...requests({ cpu: '100m' }, { cpu: '1' }) })))
      await tried(s, 'little', s.create('pods', pod('l', { ...idle, ...res('50m') })))
      await s.create('statefulsets', sts('a', { replicas: 1 }, { ...idle, ...requests({ cpu: '3' }, { cpu: '3' }) }))
      await s.create('jobs', kjob('j', {}, requests({ cpu: '3' }, { cpu: '3' })))
      await s.create('daemonsets', {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: { name: 'd' },
        spec: {
          selector: { matchLabels: { app: 'd' } },
          template: {
            metadata: { labels: { app: 'd' } },
            spec: { nodeSelector: { 'kubernetes.io/hostname': 'kwok-1' }, ...requests({ cpu: '3' }, { cpu: '3' }) },
          },
        },
      })
      await s.pause(3000)
    },
    restMs: 20_000,
  },
  'quota-claim-used-by-pod-goes': {
    async act(s) {
      await s.create('persistentvolumes', pv(s, 'v', { storageClassName: s.ns }))
      await s.create('resourcequotas', quota('q', { persistentvolumeclaims: '1', pods: '2' }))
      await counted(s)
      await s.create('persistentvolumeclaims', claim('c', { storageClassName: s.ns }))
      await s.untilObj('persistentvolumeclaims', 'c', ({ status }) => status.phase === 'Bound')
      await s.create('pods', pvcPod('p', 'c'))
      await s.untilObj('pods', 'p', running)
      await s.del('persistentvolumeclaims', 'c')
      await s.pause(1500)
      await used(s)
      await s.del('pods', 'p')
      await s.gone('persistentvolumeclaims', 'c')
      await s.pause(2000)
      await used(s)
    },
    clean: rm(['persistentvolumes', 'v']),
  },
  'quota-terminating-pods-and-deadline': {
    async act(s) {
      await s.create('resourcequotas', quota('q', { pods: '5', 'requests.cpu': '5' }, { scopes: ['Terminating'] }))
      await s.create('resourcequotas', quota('r', { pods: '5' }, { scopes: ['NotTerminating', 'NotBestEffort'] }))
      for (const name of ['q', 'r']) await counted(s, name)
      await tried(s, 'a', s.create('pods', pod('a', { ...idle, activeDeadlineSeconds: 500, ...res('1') })))
      await tried(s, 'b', s.create('pods', pod('b', { ...idle, ...res('1') })))
      await s.pause(1500)
      for (const name of ['q', 'r']) await used(s, name)
      await tried(s, 'deadline given', s.patch('pods', 'b', { spec: { activeDeadlineSeconds: 100 } }))
      await s.pause(2000)
      for (const name of ['q', 'r']) await used(s, name)
    },
  },
} satisfies Readonly<Record<string, Story>>
