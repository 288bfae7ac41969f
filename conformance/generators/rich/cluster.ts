/** Kinds that configure a cluster, using every part of their types: storage, networks, admission, flow control, devices. */
import { readFileSync } from 'node:fs'
import type { CorpusEntry } from '../mutations.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects as a client would send them
type Any = any

const entry = (
  group: string,
  plural: string,
  kind: string,
  name: string,
  rest: Any,
  metadata: Any = {},
): CorpusEntry => {
  const [apiVersion, scope] = group.split(' ') as [string, string | undefined]
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  return {
    path: `${base}${scope === 'ns' ? '/namespaces/$NS' : ''}/${plural}`,
    object: { apiVersion, kind, metadata: { name, ...metadata }, ...rest },
  }
}

const nodeTerms = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }] }
const secret = { name: 's', namespace: 'n' }
const volume = (name: string, source: Any, more: Any = {}) =>
  entry('v1', 'persistentvolumes', 'PersistentVolume', `rich-${name}`, {
    spec: {
      capacity: { storage: '5Gi' },
      accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: 'fast',
      mountOptions: ['hard'],
      volumeMode: 'Filesystem',
      nodeAffinity: { required: nodeTerms },
      ...more,
      ...source,
    },
  })

const storage: readonly CorpusEntry[] = [
  volume(
    'csi',
    {
      csi: {
        driver: 'csi.example.com',
        volumeHandle: 'h',
        readOnly: true,
        fsType: 'ext4',
        volumeAttributes: { a: 'b' },
        controllerPublishSecretRef: secret,
        nodeStageSecretRef: secret,
        nodePublishSecretRef: secret,
        controllerExpandSecretRef: secret,
        nodeExpandSecretRef: secret,
      },
    },
    {
      volumeAttributesClassName: 'gold',
      claimRef: { kind: 'PersistentVolumeClaim', namespace: 'n', name: 'c', uid: 'u' },
    },
  ),
  volume('iscsi', {
    iscsi: {
      targetPortal: '10.0.0.1:3260',
      iqn: 'iqn.2001-04.com.example:storage.disk1',
      lun: 0,
      chapAuthDiscovery: true,
      secretRef: secret,
      initiatorName: 'iqn.2001-04.com.example:i',
    },
  }),
  volume('fc', { fc: { wwids: ['3600508b400105e210000900000490000'], fsType: 'ext4' } }),
  volume('local', { local: { path: '/mnt/disk', fsType: 'ext4' } }),
  volume('rbd', { rbd: { monitors: ['a'], image: 'i', secretRef: secret } }),
  volume('cephfs', { cephfs: { monitors: ['a'], path: '/x', secretRef: secret } }),
  volume('azure', { azureFile: { secretName: 's', shareName: 'x', secretNamespace: 'n' } }),
  volume('disk', {
    azureDisk: { diskName: 'd', diskURI: '/subscriptions/x/d', kind: 'Managed', cachingMode: 'ReadOnly' },
  }),
  volume('flex', { flexVolume: { driver: 'example.com/d', secretRef: secret } }),
  volume('scaleio', { scaleIO: { gateway: 'g', system: 's', volumeName: 'v', secretRef: secret } }),
  volume('storageos', {
    storageos: { volumeName: 'v', volumeNamespace: 'n', secretRef: { name: 's', namespace: 'n' } },
  }),
  volume('gce', { gcePersistentDisk: { pdName: 'p', partition: 3 } }, { persistentVolumeReclaimPolicy: 'Delete' }),
  volume('aws', { awsElasticBlockStore: { volumeID: 'v', partition: 3 } }),
  volume('glusterfs', { glusterfs: { endpoints: 'e', path: 'p', endpointsNamespace: 'n' } }),
  volume('cinder', { cinder: { volumeID: 'v', secretRef: secret } }),
  volume('recycled', { nfs: { server: 's', path: '/p' } }, { persistentVolumeReclaimPolicy: 'Recycle' }),
  entry('v1 ns', 'persistentvolumeclaims', 'PersistentVolumeClaim', 'pvc', {
    spec: {
      accessModes: ['ReadWriteMany'],
      resources: { requests: { storage: '1Gi' }, limits: { storage: '2Gi' } },
      selector: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'k', operator: 'DoesNotExist' }] },
      storageClassName: 'fast',
      volumeMode: 'Block',
      volumeName: 'pv',
      dataSourceRef: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' },
      volumeAttributesClassName: 'gold',
    },
  }),
  entry('storage.k8s.io/v1', 'storageclasses', 'StorageClass', 'rich-sc', {
    provisioner: 'example.com/p',
    parameters: { type: 'ssd', 'example.com/x': 'y' },
    reclaimPolicy: 'Retain',
    mountOptions: ['a', 'b'],
    allowVolumeExpansion: true,
    volumeBindingMode: 'WaitForFirstConsumer',
    allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['a', 'b'] }] }],
  }),
  entry('storage.k8s.io/v1', 'csidrivers', 'CSIDriver', 'rich.csi.example.com', {
    spec: {
      attachRequired: true,
      podInfoOnMount: true,
      volumeLifecycleModes: ['Persistent', 'Ephemeral'],
      storageCapacity: true,
      fsGroupPolicy: 'File',
      tokenRequests: [{ audience: 'a', expirationSeconds: 3600 }, { audience: '' }],
      requiresRepublish: true,
      seLinuxMount: true,
      nodeAllocatableUpdatePeriodSeconds: 60,
    },
  }),
  entry('storage.k8s.io/v1', 'csinodes', 'CSINode', 'rich-node', {
    spec: {
      drivers: [
        {
          name: 'csi.example.com',
          nodeID: 'n',
          topologyKeys: ['zone', 'example.com/rack'],
          allocatable: { count: 10 },
        },
        { name: 'b.example.com', nodeID: 'x' },
      ],
    },
  }),
  entry('storage.k8s.io/v1 ns', 'csistoragecapacities', 'CSIStorageCapacity', 'cap', {
    storageClassName: 'fast',
    nodeTopology: { matchLabels: { zone: 'a' } },
    capacity: '10Gi',
    maximumVolumeSize: '1Gi',
  }),
  entry('storage.k8s.io/v1', 'volumeattachments', 'VolumeAttachment', 'rich-va', {
    spec: { attacher: 'csi.example.com', nodeName: 'n', source: { persistentVolumeName: 'pv' } },
  }),
  entry('storage.k8s.io/v1', 'volumeattachments', 'VolumeAttachment', 'rich-inline', {
    spec: {
      attacher: 'csi.example.com',
      nodeName: 'n',
      source: {
        inlineVolumeSpec: {
          accessModes: ['ReadWriteOnce'],
          csi: { driver: 'csi.example.com', volumeHandle: 'h' },
        },
      },
    },
  }),
  entry('storage.k8s.io/v1', 'volumeattributesclasses', 'VolumeAttributesClass', 'rich-vac', {
    driverName: 'csi.example.com',
    parameters: { iops: '100' },
  }),
]

const peer = {
  podSelector: { matchLabels: { a: 'b' } },
  namespaceSelector: { matchExpressions: [{ key: 'k', operator: 'In', values: ['v'] }] },
}
const networks: readonly CorpusEntry[] = [
  entry('networking.k8s.io/v1 ns', 'networkpolicies', 'NetworkPolicy', 'np', {
    spec: {
      podSelector: { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['x'] }] },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        {
          from: [peer, { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }],
          ports: [{ protocol: 'TCP', port: 80, endPort: 90 }, { port: 'http' }],
        },
      ],
      egress: [{ to: [{ ipBlock: { cidr: 'fd00::/8' } }], ports: [{ protocol: 'UDP', port: 53 }] }],
    },
  }),
  entry('networking.k8s.io/v1 ns', 'ingresses', 'Ingress', 'ing', {
    spec: {
      ingressClassName: 'nginx',
      defaultBackend: { service: { name: 'd', port: { number: 80 } } },
      tls: [{ hosts: ['a.example.com', '*.b.example.com'], secretName: 's' }],
      rules: [
        {
          host: 'a.example.com',
          http: {
            paths: [
              { path: '/x', pathType: 'Prefix', backend: { service: { name: 's', port: { name: 'http' } } } },
              {
                path: '/y',
                pathType: 'Exact',
                backend: { resource: { apiGroup: 'k8s.example.com', kind: 'Bucket', name: 'b' } },
              },
            ],
          },
        },
        {
          host: '*.b.example.com',
          http: {
            paths: [{ pathType: 'ImplementationSpecific', backend: { service: { name: 's', port: { number: 1 } } } }],
          },
        },
      ],
    },
  }),
  entry('networking.k8s.io/v1', 'ingressclasses', 'IngressClass', 'rich-ic', {
    spec: {
      controller: 'example.com/c',
      parameters: { apiGroup: 'k8s.example.com', kind: 'Params', name: 'p', scope: 'Namespace', namespace: 'n' },
    },
  }),
  entry(
    'networking.k8s.io/v1',
    'ipaddresses',
    'IPAddress',
    '192.0.2.7',
    {
      spec: { parentRef: { group: '', resource: 'services', namespace: 'default', name: 'x' } },
    },
    { labels: { a: 'b' } },
  ),
  entry('networking.k8s.io/v1', 'servicecidrs', 'ServiceCIDR', 'rich-cidr', { spec: { cidrs: ['198.51.100.0/24'] } }),
]

const rules = [
  {
    apiGroups: ['apps'],
    apiVersions: ['v1'],
    operations: ['CREATE', 'UPDATE'],
    resources: ['deployments', 'deployments/scale'],
    scope: 'Namespaced',
  },
]
const hook = {
  admissionReviewVersions: ['v1', 'v1beta1'],
  sideEffects: 'NoneOnDryRun',
  failurePolicy: 'Ignore',
  matchPolicy: 'Exact',
  timeoutSeconds: 5,
  rules,
  objectSelector: { matchLabels: { never: 'matches' } },
  namespaceSelector: { matchExpressions: [{ key: 'k', operator: 'In', values: ['v'] }] },
  matchConditions: [{ name: 'm', expression: "request.userInfo.username == 'nobody'" }],
}
const webhooks = [
  { name: 'a.hooks.example.com', ...hook, clientConfig: { url: 'https://nowhere.example.com/path' } },
  {
    name: 'b.hooks.example.com',
    ...hook,
    clientConfig: { service: { name: 's', namespace: 'n', path: '/p', port: 8443 } },
  },
]
const constraints = {
  resourceRules: [{ ...rules[0], resourceNames: ['nobody'] }],
  excludeResourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['pods'] }],
  namespaceSelector: { matchLabels: { a: 'b' } },
  objectSelector: { matchLabels: { c: 'd' } },
  matchPolicy: 'Equivalent',
}
const bindingSpec = {
  policyName: 'rich-policy',
  paramRef: { name: 'p', namespace: 'n', parameterNotFoundAction: 'Allow' },
  matchResources: constraints,
}
const admission: readonly CorpusEntry[] = [
  entry(
    'admissionregistration.k8s.io/v1',
    'validatingwebhookconfigurations',
    'ValidatingWebhookConfiguration',
    'rich-vwc',
    { webhooks },
  ),
  entry(
    'admissionregistration.k8s.io/v1',
    'mutatingwebhookconfigurations',
    'MutatingWebhookConfiguration',
    'rich-mwc',
    {
      webhooks: webhooks.map((one) => ({ ...one, reinvocationPolicy: 'IfNeeded' })),
    },
  ),
  entry('admissionregistration.k8s.io/v1', 'validatingadmissionpolicies', 'ValidatingAdmissionPolicy', 'rich-policy', {
    spec: {
      failurePolicy: 'Ignore',
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConstraints: constraints,
      matchConditions: [{ name: 'c', expression: "object.metadata.name != 'x'" }],
      variables: [{ name: 'n', expression: 'object.spec.replicas' }],
      validations: [
        { expression: 'variables.n <= 5', message: 'too many', reason: 'Invalid' },
        { expression: "params.data.x == 'y'", messageExpression: "'no ' + object.metadata.name" },
      ],
      auditAnnotations: [{ key: 'a', valueExpression: "'x'" }],
    },
  }),
  entry(
    'admissionregistration.k8s.io/v1',
    'validatingadmissionpolicybindings',
    'ValidatingAdmissionPolicyBinding',
    'rich-binding',
    {
      spec: { ...bindingSpec, validationActions: ['Warn', 'Audit'] },
    },
  ),
  entry('admissionregistration.k8s.io/v1', 'mutatingadmissionpolicies', 'MutatingAdmissionPolicy', 'rich-map', {
    spec: {
      failurePolicy: 'Ignore',
      reinvocationPolicy: 'Never',
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConstraints: constraints,
      mutations: [
        {
          patchType: 'ApplyConfiguration',
          applyConfiguration: { expression: 'Object{metadata: Object.metadata{labels: {"a": "b"}}}' },
        },
        {
          patchType: 'JSONPatch',
          jsonPatch: { expression: '[JSONPatch{op: "add", path: "/metadata/labels/x", value: "y"}]' },
        },
      ],
    },
  }),
  entry(
    'admissionregistration.k8s.io/v1',
    'mutatingadmissionpolicybindings',
    'MutatingAdmissionPolicyBinding',
    'rich-mapb',
    { spec: bindingSpec },
  ),
]

const flow: readonly CorpusEntry[] = [
  entry('flowcontrol.apiserver.k8s.io/v1', 'flowschemas', 'FlowSchema', 'rich-fs', {
    spec: {
      matchingPrecedence: 900,
      distinguisherMethod: { type: 'ByUser' },
      priorityLevelConfiguration: { name: 'global-default' },
      rules: [
        {
          subjects: [
            { kind: 'User', user: { name: 'u' } },
            { kind: 'Group', group: { name: 'g' } },
            { kind: 'ServiceAccount', serviceAccount: { namespace: 'n', name: '*' } },
          ],
          resourceRules: [
            { verbs: ['get'], apiGroups: ['apps'], resources: ['deployments'], namespaces: ['n'], clusterScope: true },
          ],
          nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/healthz', '/x/*'] }],
        },
      ],
    },
  }),
  entry('flowcontrol.apiserver.k8s.io/v1', 'prioritylevelconfigurations', 'PriorityLevelConfiguration', 'rich-plc', {
    spec: {
      type: 'Limited',
      limited: {
        nominalConcurrencyShares: 5,
        lendablePercent: 50,
        borrowingLimitPercent: 40,
        limitResponse: { type: 'Queue', queuing: { queues: 16, handSize: 4, queueLengthLimit: 20 } },
      },
    },
  }),
  entry('flowcontrol.apiserver.k8s.io/v1', 'prioritylevelconfigurations', 'PriorityLevelConfiguration', 'rich-reject', {
    spec: { type: 'Limited', limited: { nominalConcurrencyShares: 0, limitResponse: { type: 'Reject' } } },
  }),
]

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
const devices: readonly CorpusEntry[] = [
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

const others: readonly CorpusEntry[] = [
  entry('rbac.authorization.k8s.io/v1', 'clusterroles', 'ClusterRole', 'rich-cr', {
    rules: [
      {
        apiGroups: ['', 'apps'],
        resources: ['pods', 'deployments/scale'],
        resourceNames: ['a'],
        verbs: ['get', 'watch'],
      },
      { nonResourceURLs: ['/healthz/*'], verbs: ['get'] },
    ],
    aggregationRule: { clusterRoleSelectors: [{ matchExpressions: [{ key: 'k', operator: 'In', values: ['v'] }] }] },
  }),
  entry('rbac.authorization.k8s.io/v1 ns', 'rolebindings', 'RoleBinding', 'rb', {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [
      { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'u' },
      { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'g' },
      { kind: 'ServiceAccount', name: 'sa', namespace: 'n' },
    ],
  }),
  entry('node.k8s.io/v1', 'runtimeclasses', 'RuntimeClass', 'rich-rtc', {
    handler: 'kata',
    overhead: { podFixed: { cpu: '100m', memory: '64Mi' } },
    scheduling: {
      nodeSelector: { a: 'b' },
      tolerations: [{ key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule' }],
    },
  }),
  entry('scheduling.k8s.io/v1', 'priorityclasses', 'PriorityClass', 'rich-pc', {
    value: 1000,
    description: 'd',
    preemptionPolicy: 'Never',
    globalDefault: false,
  }),
  entry('coordination.k8s.io/v1 ns', 'leases', 'Lease', 'l', {
    spec: {
      holderIdentity: 'h',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 2,
    },
  }),
  entry(
    'v1',
    'nodes',
    'Node',
    'rich-node',
    {
      spec: {
        podCIDR: '10.244.0.0/24',
        podCIDRs: ['10.244.0.0/24', 'fd00:10::/64'],
        providerID: 'x://1',
        unschedulable: true,
        taints: [
          { key: 'k', value: 'v', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' },
          { key: 'l', effect: 'NoSchedule' },
        ],
      },
    },
    { labels: { zone: 'a' } },
  ),
  entry('v1 ns', 'limitranges', 'LimitRange', 'lr', {
    spec: {
      limits: [
        {
          type: 'Container',
          max: { cpu: '2', memory: '1Gi' },
          min: { cpu: '10m' },
          default: { cpu: '500m' },
          defaultRequest: { cpu: '100m' },
          maxLimitRequestRatio: { cpu: '10' },
        },
        { type: 'Pod', max: { cpu: '4' }, min: { memory: '1Mi' }, maxLimitRequestRatio: { memory: '2' } },
        { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '10Gi' } },
      ],
    },
  }),
  entry('v1 ns', 'resourcequotas', 'ResourceQuota', 'rq', {
    spec: {
      hard: {
        pods: '10',
        'requests.cpu': '4',
        'limits.memory': '8Gi',
        'count/deployments.apps': '3',
        'requests.storage': '10Gi',
        'fast.storageclass.storage.k8s.io/requests.storage': '1Gi',
      },
    },
  }),
  entry('v1 ns', 'resourcequotas', 'ResourceQuota', 'scoped', {
    spec: {
      hard: { pods: '10', cpu: '4' },
      scopes: ['NotTerminating'],
      scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] },
    },
  }),
  entry('v1 ns', 'configmaps', 'ConfigMap', 'cm', {
    data: { a: 'b', 'c.d': 'e' },
    binaryData: { bin: 'AAEC' },
    immutable: true,
  }),
  entry('v1 ns', 'secrets', 'Secret', 'docker', {
    type: 'kubernetes.io/dockerconfigjson',
    data: { '.dockerconfigjson': 'e30=' },
    stringData: { other: 'x' },
  }),
  entry('v1 ns', 'secrets', 'Secret', 'basic', {
    type: 'kubernetes.io/basic-auth',
    stringData: { username: 'u', password: 'p' },
    immutable: true,
  }),
  entry('v1 ns', 'serviceaccounts', 'ServiceAccount', 'sa', {
    secrets: [{ name: 's' }],
    imagePullSecrets: [{ name: 'i' }],
    automountServiceAccountToken: false,
  }),
  entry('v1 ns', 'events', 'Event', 'ev', {
    involvedObject: { kind: 'Pod', namespace: '$NS', name: 'p', apiVersion: 'v1', uid: 'u', fieldPath: 'spec' },
    reason: 'R',
    message: 'm',
    source: { component: 'c', host: 'h' },
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:00Z',
    count: 1,
    type: 'Normal',
    eventTime: '2026-01-01T00:00:00.000000Z',
    series: { count: 2, lastObservedTime: '2026-01-01T00:00:00.000000Z' },
    action: 'A',
    related: { kind: 'Node', name: 'n' },
    reportingComponent: 'example.com/c',
    reportingInstance: 'i',
  }),
  entry('apps/v1 ns', 'controllerrevisions', 'ControllerRevision', 'cr', {
    revision: 3,
    data: { spec: { a: [1, 2] } },
  }),
  entry('certificates.k8s.io/v1', 'clustertrustbundles', 'ClusterTrustBundle', 'rich.example.com:s:b', {
    spec: {
      signerName: 'rich.example.com/s',
      trustBundle: readFileSync(new URL('../../hook/cert.pem', import.meta.url), 'utf8'),
    },
  }),
  entry('storagemigration.k8s.io/v1', 'storageversionmigrations', 'StorageVersionMigration', 'rich-svm', {
    spec: { resource: { group: 'apps', resource: 'deployments' } },
  }),
  entry('apiregistration.k8s.io/v1', 'apiservices', 'APIService', 'v1.rich.example.com', {
    spec: {
      group: 'rich.example.com',
      version: 'v1',
      groupPriorityMinimum: 1000,
      versionPriority: 15,
      insecureSkipTLSVerify: true,
      service: { name: 's', namespace: 'n', port: 443 },
    },
  }),
]

export const richClusterKinds: readonly CorpusEntry[] = [
  ...storage,
  ...networks,
  ...admission,
  ...flow,
  ...devices,
  ...others,
]
