/** What people really do to a cluster, each in a namespace of its own: what is there, what is asked, and what is done. */
import * as make from './things.ts'

export interface Everyday {
  readonly name: string
  /** Applied one after the other; each when the one before has come to rest. `NS` stands for its namespace in all that follows. */
  readonly made: readonly (readonly object[])[]
  /** Commands of kubectl that bring about the state, after all is made. */
  readonly prepared?: readonly (readonly string[])[]
  /** Nodes of the cluster that are its own: `NODE-1`, `NODE-2`; no other pods come there, and its pods may go nowhere else. */
  readonly nodes?: number
  readonly files?: Readonly<Record<string, readonly object[]>>
  /** `skiff plan` with these arguments; what is done is the same with kubectl. */
  readonly asked: readonly string[]
  /** Taken off by hand meanwhile: what a controller that both know to be there would do. */
  readonly acts?: readonly string[]
  /** Files name namespaces of their own: none is given. */
  readonly isWide?: true
  /** It keeps the workers that end definitions busy: it is done after the others. */
  readonly isLast?: true
  /** Further arguments, and the exit code that comes of them. */
  readonly gates?: readonly (readonly [number, ...string[]])[]
}

const { deployment, statefulSet, daemonSet, job, cronJob, pod, configMap, claim, volume, service, ingress } = make
const { definition, shop, budget, account, role, binding, of, held, HOLD } = make
const nowhere = { nodeSelector: { nowhere: 'x' } }

const workloads: readonly Everyday[] = [
  {
    name: 'deployment, pods running',
    made: [[deployment('web', 3)]],
    asked: ['delete', 'deployment', 'web'],
    gates: [
      [0, '--max', '5'],
      [20, '--max', '4'],
      [20, '--expect-none', 'po'],
      [0, '--expect-none', 'pvc'],
    ],
  },
  { name: 'deployment, pods pending', made: [[deployment('web', 2, nowhere)]], asked: ['delete', 'deploy/web'] },
  {
    name: 'deployment in the foreground, a pod held',
    made: [[deployment('web', 2)]],
    prepared: [['patch', 'FIRST-POD', '-p', `{"metadata":{"finalizers":["${HOLD}"]}}`]],
    asked: ['delete', 'deployment', 'web', '--cascade=foreground'],
    gates: [[21]],
  },
  {
    name: 'deployment, a pod held, in the background',
    made: [[deployment('web', 2)]],
    prepared: [['patch', 'FIRST-POD', '-p', `{"metadata":{"finalizers":["${HOLD}"]}}`]],
    asked: ['delete', 'deployment', 'web'],
  },
  {
    name: 'deployment orphaned',
    made: [[deployment('web', 2)]],
    asked: ['delete', 'deployment', 'web', '--cascade=orphan'],
    gates: [[0, '--max', '1']],
  },
  {
    name: 'deployment in the middle of a rollout',
    made: [[deployment('web', 3)], [deployment('web', 3, { ...nowhere, containers: [{ name: 'c', image: 'i:2' }] })]],
    asked: ['delete', 'deployment', 'web', '--cascade=foreground'],
  },
  { name: 'replica set of a deployment', made: [[deployment('web', 2)]], asked: ['delete', 'rs', '-l', 'app=web'] },
  {
    name: 'replica set of a deployment, orphaned',
    made: [[deployment('web', 2)]],
    asked: ['delete', 'rs', '--all', '--cascade=orphan'],
  },
  { name: 'pods of a deployment', made: [[deployment('web', 2), pod('bare')]], asked: ['delete', 'pods', '--all'] },
  {
    name: 'a pod by force',
    made: [[pod('bare'), held(pod('kept'))]],
    asked: ['delete', 'pod', 'bare', 'kept', '--force', '--grace-period=0'],
  },
  {
    name: 'pods by phase',
    made: [[pod('on'), pod('off', nowhere)]],
    asked: ['delete', 'pods', '--field-selector', 'status.phase=Pending'],
  },
  {
    name: 'stateful set with claims that stay',
    made: [
      [volume('1'), volume('2')],
      [service('db', { clusterIP: 'None' }), statefulSet('db', 2)],
    ],
    asked: ['delete', 'statefulset', 'db'],
    gates: [[0, '--expect-none', 'pvc']],
  },
  {
    name: 'stateful set with claims that go',
    made: [
      [volume('1'), volume('2')],
      [statefulSet('db', 2, { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' } })],
    ],
    asked: ['delete', 'sts', 'db'],
    gates: [[20, '--expect-none', 'persistentvolumeclaims']],
  },
  {
    name: 'stateful set with claims that go, orphaned',
    made: [
      [volume('1')],
      [statefulSet('db', 1, { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' } })],
    ],
    asked: ['delete', 'sts', 'db', '--cascade=orphan'],
  },
  {
    name: 'stateful set of which a claim is not bound',
    made: [[volume('1')], [statefulSet('db', 2)]],
    asked: ['delete', 'sts/db', '--cascade=foreground'],
  },
  {
    name: 'a pod of a stateful set',
    made: [[volume('1'), volume('2')], [statefulSet('db', 2)]],
    asked: ['delete', 'pod', 'db-0'],
  },
  {
    name: 'a claim that a pod of a stateful set uses',
    made: [[volume('1')], [statefulSet('db', 1)]],
    asked: ['delete', 'pvc', 'data-db-0'],
    gates: [[21]],
  },
  { name: 'job that is done', made: [[job('once')]], asked: ['delete', 'job', 'once'] },
  { name: 'job that waits', made: [[job('once', {}, nowhere)]], asked: ['delete', 'job', 'once'] },
  {
    name: 'job that waits, in the foreground',
    made: [[job('once', { parallelism: 2, completions: 2 }, nowhere)]],
    asked: ['delete', 'job', 'once', '--cascade=foreground'],
  },
  {
    name: 'job that waits, orphaned',
    made: [[job('once', {}, nowhere)]],
    asked: ['delete', 'job', 'once', '--cascade=orphan'],
  },
  { name: 'job suspended', made: [[job('once', { suspend: true })]], asked: ['delete', 'job', 'once'] },
  {
    name: 'pods of a job that waits',
    made: [[job('once', {}, nowhere)]],
    asked: ['delete', 'pod', '-l', 'job-name=once'],
  },
  {
    name: 'cron job with jobs',
    made: [[cronJob('often')]],
    prepared: [['create', 'job', 'by-hand', '--from=cronjob/often']],
    asked: ['delete', 'cronjob', 'often'],
  },
  {
    name: 'cron job orphaned',
    made: [[cronJob('often')]],
    prepared: [['create', 'job', 'by-hand', '--from=cronjob/often']],
    asked: ['delete', 'cj', 'often', '--cascade=orphan'],
  },
  {
    name: 'cron job in the foreground, jobs that wait',
    made: [[cronJob('often', nowhere)]],
    prepared: [['create', 'job', 'by-hand', '--from=cronjob/often']],
    asked: ['delete', 'cronjobs.batch', 'often', '--cascade=foreground'],
  },
  { name: 'daemon set', nodes: 1, made: [[daemonSet('agent')]], asked: ['delete', 'ds', 'agent'] },
  {
    name: 'a pod of a daemon set',
    nodes: 1,
    made: [[daemonSet('agent')]],
    asked: ['delete', 'pods', '-l', 'app=agent'],
  },
  {
    name: 'all',
    made: [[deployment('web', 1), service('web'), job('once'), configMap('c')]],
    asked: ['delete', 'all', '--all'],
  },
]

const storage: readonly Everyday[] = [
  { name: 'volume that is bound', made: [[volume('1')], [claim('c')]], asked: ['delete', 'pv', 'NS-1'], gates: [[21]] },
  { name: 'volume that nothing uses', made: [[volume('1')]], asked: ['delete', 'pv', 'NS-1'] },
  { name: 'volume and its claim', made: [[volume('1')], [claim('c')]], asked: ['delete', 'pv/NS-1', 'pvc/c'] },
  {
    name: 'volume that is released',
    made: [[volume('1')], [claim('c')]],
    prepared: [['delete', 'pvc', 'c']],
    asked: ['delete', 'pv', 'NS-1'],
  },
  { name: 'claim that nothing uses', made: [[volume('1')], [claim('c')]], asked: ['delete', 'pvc', 'c'] },
  {
    name: 'claim of a volume that is deleted with it',
    made: [[volume('1', { persistentVolumeReclaimPolicy: 'Delete' })], [claim('c')]],
    asked: ['delete', 'pvc', 'c'],
  },
  { name: 'claim that is not bound', made: [[claim('c')]], asked: ['delete', 'pvc', 'c'] },
  {
    name: 'claim that a running pod uses',
    made: [[volume('1')], [claim('c'), pod('p', of('c'))]],
    asked: ['delete', 'pvc', 'c'],
    gates: [[21]],
  },
  {
    name: 'claim that a pending pod uses',
    made: [[volume('1')], [claim('c'), pod('p', { ...of('c'), ...nowhere })]],
    asked: ['delete', 'pvc', 'c'],
  },
  {
    name: 'claim that the pod of a job uses',
    made: [[volume('1')], [claim('c')], [job('once', {}, of('c'))]],
    asked: ['delete', 'pvc', 'c'],
  },
  {
    name: 'claim and its pod',
    made: [[volume('1')], [claim('c'), pod('p', of('c'))]],
    asked: ['delete', 'pvc/c', 'pod/p'],
  },
  {
    name: 'storage class',
    made: [[make.storageClass()], [volume('1', { storageClassName: 'NS' })], [claim('c', { storageClassName: 'NS' })]],
    asked: ['delete', 'sc', 'NS'],
  },
]

const cluster: readonly Everyday[] = [
  {
    name: 'namespace of an application',
    made: [
      [volume('1')],
      [
        deployment('web', 2),
        service('web'),
        claim('c'),
        pod('p', of('c')),
        job('once'),
        configMap('c'),
        budget('web', 2),
      ],
    ],
    asked: ['delete', 'ns', 'NS'],
  },
  {
    name: 'namespace with a pod that is held',
    made: [[held(pod('p')), configMap('c'), deployment('web', 1)]],
    asked: ['delete', 'namespace/NS'],
    gates: [[21]],
  },
  {
    name: 'namespace with a thing that is held',
    made: [[held(configMap('c')), configMap('d'), deployment('web', 1)]],
    asked: ['delete', 'namespace', 'NS'],
  },
  {
    name: 'namespace with a service of a cloud',
    made: [[held(service('lb', { type: 'LoadBalancer' }), 'service.kubernetes.io/load-balancer-cleanup')]],
    asked: ['delete', 'namespace', 'NS'],
  },
  {
    name: 'namespace with instances',
    isLast: true,
    made: [[definition()], [shop('s'), held(shop('t'))]],
    asked: ['delete', 'namespace', 'NS'],
  },
  {
    name: 'namespace with owners and dependents',
    made: [[configMap('top')], [make.owned('mid', 'ConfigMap', 'top')], [make.owned('low', 'ConfigMap', 'mid')]],
    asked: ['delete', 'ns', 'NS'],
  },
  {
    name: 'namespace in the foreground',
    made: [[deployment('web', 2), statefulSet('db', 1)]],
    asked: ['delete', 'ns', 'NS', '--cascade=foreground'],
  },
  { name: 'namespace orphaning', made: [[deployment('web', 2)]], asked: ['delete', 'ns', 'NS', '--cascade=orphan'] },
  {
    name: 'definition with instances',
    made: [[definition()], [shop('s'), shop('t')], [make.owned('of-s', 'ConfigMap', 's', 'Shop')]],
    asked: ['delete', 'crd', 'shops.NS.test'],
    gates: [[20, '--expect-none', 'shops.NS.test']],
  },
  {
    name: 'definition with instances that are held',
    isLast: true,
    made: [[definition()], [held(shop('s')), shop('t')]],
    asked: ['delete', 'crd', 'shops.NS.test'],
  },
  {
    name: 'definition in the foreground',
    made: [[definition()], [shop('s')], [make.owned('of-s', 'ConfigMap', 's', 'Shop')]],
    asked: ['delete', 'crd', 'shops.NS.test', '--cascade=foreground'],
  },
  {
    name: 'definition orphaning',
    made: [[definition()], [shop('s')], [make.owned('of-s', 'ConfigMap', 's', 'Shop')]],
    asked: ['delete', 'crd', 'shops.NS.test', '--cascade=orphan'],
  },
  {
    name: 'an instance with dependents',
    made: [[definition()], [shop('s')], [make.owned('of-s', 'ConfigMap', 's', 'Shop')]],
    asked: ['delete', 'shops.NS.test', 's', '--cascade=foreground'],
  },
  {
    name: 'service of a cloud',
    made: [[held(service('lb', { type: 'LoadBalancer' }), 'service.kubernetes.io/load-balancer-cleanup')]],
    asked: ['delete', 'svc', 'lb'],
    gates: [[21]],
  },
  { name: 'service with endpoints', made: [[deployment('web', 2), service('web')]], asked: ['delete', 'svc', 'web'] },
  { name: 'ingress', made: [[service('web'), ingress('web')]], asked: ['delete', 'ing', 'web'] },
  {
    name: 'ingress of a controller that is gone',
    made: [[held(ingress('web'), 'group.ingress.k8s.aws/x')]],
    asked: ['delete', 'ingress', '--all'],
    gates: [[21]],
  },
  {
    name: 'service account that pods use',
    made: [[account('a'), make.token('a')], [deployment('web', 1, { serviceAccountName: 'a' })]],
    asked: ['delete', 'sa', 'a'],
  },
  { name: 'the default service account', made: [[configMap('c')]], asked: ['delete', 'sa', 'default'] },
  { name: 'the root of trust', made: [[configMap('c')]], asked: ['delete', 'cm', '--all'] },
  {
    name: 'node with pods',
    nodes: 1,
    made: [[deployment('web', 2, make.onOwnNode), pod('bare', make.onOwnNode), daemonSet('agent')]],
    asked: ['delete', 'node', 'NODE-1'],
  },
  {
    name: 'what is small',
    made: [[budget('b', 1), role('r'), binding('r', 'a'), make.quota()]],
    asked: ['delete', 'pdb/b', 'role/r', 'rolebinding/r', 'quota/q'],
  },
  { name: 'what is not there', made: [[configMap('c')]], asked: ['delete', 'cm', 'c', 'd'], gates: [[21]] },
  { name: 'a controller revision', made: [[statefulSet('db', 1)]], asked: ['delete', 'controllerrevisions', '--all'] },
  { name: 'an autoscaler', made: [[deployment('web', 1), make.autoscaler('web')]], asked: ['delete', 'hpa', 'web'] },
]

const chart: readonly object[] = [
  account('app'),
  role('app'),
  binding('app', 'app'),
  configMap('app'),
  make.secret('app'),
  claim('app'),
  service('app'),
  ingress('app'),
  budget('app', 1),
  deployment('app', 2, { serviceAccountName: 'app', ...of('app') }),
  make.autoscaler('app'),
]
const operator = [
  account('op'),
  role('op', 'NS.test', 'shops'),
  binding('op', 'op'),
  deployment('op', 1, { serviceAccountName: 'op' }),
]
const CLEANUP = 'NS.test/cleanup'

const files: readonly Everyday[] = [
  {
    name: 'a release of a chart',
    made: [[volume('1')], chart],
    files: { 'chart.yaml': chart },
    asked: ['delete', '-f', 'chart.yaml'],
  },
  {
    name: 'some of a release',
    made: [[volume('1')], chart],
    files: { 'chart.yaml': chart.slice(5) },
    asked: ['delete', '-f', 'chart.yaml', '--cascade=foreground'],
  },
  {
    name: 'an operator before what is its',
    isLast: true,
    made: [[definition()], [...operator, held(shop('s'), CLEANUP)]],
    files: { 'operator.yaml': operator, 'shop.yaml': [shop('s')], 'crd.yaml': [definition()] },
    asked: ['uninstall', 'operator.yaml', 'shop.yaml', 'crd.yaml'],
    gates: [[21]],
  },
  {
    name: 'an operator after what is its',
    made: [[definition()], [...operator, held(shop('s'), CLEANUP)]],
    files: { 'operator.yaml': operator, 'shop.yaml': [shop('s')], 'crd.yaml': [definition()] },
    asked: ['uninstall', 'shop.yaml', 'crd.yaml', 'operator.yaml'],
    acts: ['shops.NS.test/s'],
  },
  {
    name: 'a definition before its operator',
    made: [[definition()], [...operator, held(shop('s'), CLEANUP)]],
    files: { 'operator.yaml': operator, 'crd.yaml': [definition()] },
    asked: ['uninstall', 'crd.yaml', 'operator.yaml'],
    acts: ['shops.NS.test/s'],
  },
  {
    name: 'apply: another image',
    made: [[deployment('web', 2)]],
    files: { 'app.yaml': [deployment('web', 2, { containers: [{ name: 'c', image: 'i:2' }] })] },
    asked: ['apply', '-f', 'app.yaml'],
  },
  {
    name: 'apply: fewer',
    made: [[deployment('web', 3)]],
    files: { 'app.yaml': [deployment('web', 1)] },
    asked: ['apply', '-f', 'app.yaml'],
  },
  {
    name: 'apply: more',
    made: [[deployment('web', 1)]],
    files: { 'app.yaml': [deployment('web', 3)] },
    asked: ['apply', '-f', 'app.yaml'],
  },
  {
    name: 'apply: none',
    made: [[deployment('web', 2)]],
    files: { 'app.yaml': [deployment('web', 0)] },
    asked: ['apply', '-f', 'app.yaml'],
    gates: [[20, '--expect-none', 'pods']],
  },
  {
    name: 'apply: the same',
    made: [[deployment('web', 2)]],
    files: { 'app.yaml': [deployment('web', 2)] },
    asked: ['apply', '-f', 'app.yaml'],
    gates: [[0, '--max', '0']],
  },
  {
    name: 'apply: what cannot be changed',
    made: [[deployment('web', 1), service('web'), job('once')]],
    files: {
      'app.yaml': [
        make.deployment('web', 1, {}, 'other'),
        job('once', {}, { containers: [{ name: 'c', image: 'i:2' }] }),
        configMap('new'),
      ],
    },
    asked: ['apply', '-f', 'app.yaml'],
    gates: [[21]],
  },
  {
    name: 'apply: a namespace and what is in it',
    isWide: true,
    made: [[configMap('c')]],
    files: {
      'app.yaml': [
        make.namespace('NS-new'),
        make.into('NS-new', deployment('web', 2)),
        make.into('NS-new', configMap('c')),
      ],
    },
    asked: ['apply', '-f', 'app.yaml'],
  },
  {
    name: 'apply: stateful set with fewer claims',
    made: [
      [volume('1'), volume('2')],
      [statefulSet('db', 2, { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Delete' } })],
    ],
    files: {
      'app.yaml': [
        statefulSet('db', 1, { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Delete' } }),
      ],
    },
    asked: ['apply', '-f', 'app.yaml'],
  },
  {
    name: 'apply: stateful set with another image',
    made: [[statefulSet('db', 2, { volumeClaimTemplates: [] }, {})]],
    files: {
      'app.yaml': [statefulSet('db', 2, { volumeClaimTemplates: [] }, { containers: [{ name: 'c', image: 'i:2' }] })],
    },
    asked: ['apply', '-f', 'app.yaml'],
  },
  {
    name: 'apply: daemon set with another image',
    nodes: 1,
    made: [[daemonSet('agent')]],
    files: { 'app.yaml': [daemonSet('agent', { containers: [{ name: 'c', image: 'i:2' }] })] },
    asked: ['apply', '-f', 'app.yaml'],
  },
  {
    name: 'apply: a job is suspended',
    made: [[job('once', {}, nowhere)]],
    files: { 'app.yaml': [job('once', { suspend: true }, nowhere)] },
    asked: ['apply', '-f', 'app.yaml'],
  },
]

const drain = ['drain', 'NODE-1', '--timeout=20s']
const both = { nodeSelector: { everyday: 'NS' }, tolerations: [{ operator: 'Exists' }] }
const drains: readonly Everyday[] = [
  {
    name: 'drain of bare pods',
    nodes: 1,
    made: [[pod('bare', make.onOwnNode), deployment('web', 1, both)]],
    asked: drain,
    gates: [[21]],
  },
  {
    name: 'drain of bare pods by force',
    nodes: 1,
    made: [[pod('bare', make.onOwnNode), deployment('web', 1, both)]],
    asked: [...drain, '--force'],
  },
  {
    name: 'drain with a daemon set',
    nodes: 1,
    made: [[daemonSet('agent'), deployment('web', 1, both)]],
    asked: drain,
    gates: [[21]],
  },
  {
    name: 'drain past a daemon set',
    nodes: 1,
    made: [[daemonSet('agent'), deployment('web', 1, both)]],
    asked: [...drain, '--ignore-daemonsets'],
  },
  {
    name: 'drain of empty volumes',
    nodes: 1,
    made: [[deployment('web', 1, { ...both, volumes: [{ name: 'v', emptyDir: {} }] })]],
    asked: drain,
    gates: [[21]],
  },
  {
    name: 'drain of empty volumes that may go',
    nodes: 1,
    made: [[deployment('web', 1, { ...both, volumes: [{ name: 'v', emptyDir: {} }] })]],
    asked: [...drain, '--delete-emptydir-data'],
  },
  {
    name: 'drain that a budget refuses',
    nodes: 1,
    made: [[deployment('web', 2, both), budget('web', 2)]],
    asked: drain,
    gates: [[21]],
  },
  {
    name: 'drain that a budget lets through one by one',
    nodes: 2,
    made: [[deployment('web', 3, both), budget('web', 2)]],
    asked: drain,
  },
  {
    name: 'drain around a budget',
    nodes: 1,
    made: [[deployment('web', 2, both), budget('web', 2)]],
    asked: [...drain, '--disable-eviction'],
  },
  {
    name: 'drain to another node',
    nodes: 2,
    made: [[deployment('web', 4, both), job('once', {}, both)]],
    asked: [...drain, '--force'],
  },
  {
    name: 'drain of a held pod',
    nodes: 1,
    made: [[deployment('web', 1, both), held(pod('bare', make.onOwnNode))]],
    asked: [...drain, '--force'],
  },
]

/** What is deleted while others use it, or leaves what was made of it. */
const inUse: readonly Everyday[] = [
  {
    name: 'in use: priority class',
    made: [[make.priorityClass()], [deployment('web', 2, { priorityClassName: 'NS' })]],
    asked: ['delete', 'priorityclass', 'NS'],
    gates: [[0, '--max', '1']],
  },
  {
    name: 'in use: quota that is used up, and what it kept from coming',
    made: [[make.quota('1')], [deployment('web', 2)]],
    asked: ['delete', 'resourcequotas', '--all'],
  },
  {
    name: 'in use: the pods of a used-up quota',
    made: [[make.quota('1')], [deployment('web', 2)]],
    asked: ['delete', 'pods', '--all'],
  },
  {
    name: 'in use: secrets and config maps of running pods',
    made: [
      [make.secret('s'), configMap('c')],
      [
        deployment('web', 2, {
          volumes: [
            { name: 's', secret: { secretName: 's' } },
            { name: 'c', configMap: { name: 'c' } },
          ],
        }),
      ],
    ],
    asked: ['delete', 'secret/s', 'cm/c'],
    gates: [[0, '--max', '2', '--expect-none', 'pods']],
  },
  {
    name: 'in use: account, its token, role and binding',
    made: [
      [account('a'), make.token('a'), role('r'), binding('r', 'a')],
      [deployment('web', 1, { serviceAccountName: 'a' })],
    ],
    asked: ['delete', 'sa/a', 'role/r', 'rolebinding/r'],
  },
  {
    name: 'in use: claim and volume under a deployment, by label',
    made: [[make.labelled(volume('1'), 'NS')], [make.labelled(claim('c'), 'NS'), deployment('web', 1, of('c'))]],
    asked: ['delete', 'pv,pvc', '-l', 'app=NS'],
    gates: [[21], [20, '--max', '0'], [20, '--expect-none', 'pvc']],
  },
  {
    name: 'in use: claim, then its deployment in the foreground',
    made: [[volume('1')], [claim('c'), deployment('web', 2, of('c'))]],
    asked: ['delete', 'pvc/c', 'deploy/web', '--cascade=foreground'],
  },
  {
    name: 'orphan: daemon set',
    nodes: 1,
    made: [[daemonSet('agent')]],
    asked: ['delete', 'ds', 'agent', '--cascade=orphan'],
    gates: [[0, '--max', '1']],
  },
  {
    name: 'orphan: replication controller',
    made: [[make.replicationController('web', 2)]],
    asked: ['delete', 'rc', 'web', '--cascade=orphan'],
  },
  {
    name: 'orphan: stateful set and its revisions',
    made: [[statefulSet('db', 2, { volumeClaimTemplates: [] })]],
    asked: ['delete', 'sts', '-l', 'app=db', '--cascade=orphan'],
  },
  {
    name: 'orphan: all workloads of a namespace',
    made: [
      [
        deployment('web', 2),
        statefulSet('db', 1, { volumeClaimTemplates: [] }),
        job('once', {}, nowhere),
        make.replicationController('rc', 1),
      ],
    ],
    asked: ['delete', 'deploy,sts,job,rc', '--all', '--cascade=orphan'],
  },
  {
    name: 'a replica set orphaned, then adopted by nothing',
    made: [[make.replicaSet('web', 2), service('web')]],
    asked: ['delete', 'rs', 'web', '--cascade=orphan'],
  },
  {
    name: 'a stateful set scaled down, claims that go only when scaled',
    made: [
      [volume('1'), volume('2')],
      [statefulSet('db', 2, { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Delete' } })],
    ],
    asked: ['delete', 'statefulset', 'db'],
    gates: [[0, '--expect-none', 'pvc']],
  },
  {
    name: 'a stateful set in the foreground, claims that go',
    made: [
      [volume('1'), volume('2')],
      [statefulSet('db', 2, { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' } })],
    ],
    asked: ['delete', 'statefulset', 'db', '--cascade=foreground'],
    gates: [[20, '--expect-none', 'pvc']],
  },
  {
    name: 'a definition, an instance held, in the foreground',
    isLast: true,
    made: [[definition()], [held(shop('s')), shop('t')], [make.owned('of-s', 'ConfigMap', 's', 'Shop')]],
    asked: ['delete', 'crd', 'shops.NS.test', '--cascade=foreground'],
    gates: [[21]],
  },
  {
    name: 'instances, all of them, one held',
    made: [[definition()], [held(shop('s')), shop('t')], [make.owned('of-t', 'ConfigMap', 't', 'Shop')]],
    asked: ['delete', 'shops.NS.test', '--all'],
    gates: [[21]],
  },
  {
    name: 'a definition and its namespace together',
    made: [[definition()], [shop('s'), configMap('c')]],
    asked: ['delete', 'crd/shops.NS.test', 'ns/NS'],
  },
  {
    name: 'a budget and what it guards',
    made: [[deployment('web', 2), budget('web', 2)]],
    asked: ['delete', 'deploy,pdb', '--all'],
  },
  {
    name: 'a node that holds a claim',
    nodes: 1,
    made: [[volume('1')], [claim('c')], [deployment('web', 1, { ...make.onOwnNode, ...of('c') })]],
    asked: ['delete', 'node', 'NODE-1'],
  },
  {
    name: 'a limit range and an endpoint slice by hand',
    made: [[make.limits('l'), make.slice('by-hand')], [service('web')]],
    asked: ['delete', 'limits/l', 'endpointslice/by-hand'],
  },
]

export const everyday: readonly Everyday[] = [...workloads, ...storage, ...cluster, ...files, ...drains, ...inUse]
