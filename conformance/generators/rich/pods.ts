/** Pods that use every part of their type: each volume source, each kind of probe and hook, everything that schedules them. */
import type { CorpusEntry } from '../mutations.ts'
import type { Any } from './entry.ts'

const pod = (name: string, spec: Any, metadata: Any = {}): CorpusEntry => ({
  path: '/api/v1/namespaces/$NS/pods',
  object: { apiVersion: 'v1', kind: 'Pod', metadata: { name, ...metadata }, spec },
})
const container = (more: Any = {}) => ({ name: 'c', image: 'busybox', ...more })
const mounts = (volumes: readonly Any[]) =>
  volumes.map(({ name }: Any) => ({ name, mountPath: `/mnt/${name}`, readOnly: true }))
const withVolumes = (name: string, volumes: readonly Any[]) =>
  pod(name, { containers: [container({ volumeMounts: mounts(volumes) })], volumes })

const networkVolumes = [
  { name: 'nfs', nfs: { server: 'nfs.example.com', path: '/export', readOnly: true } },
  {
    name: 'iscsi',
    iscsi: {
      targetPortal: '10.0.0.1:3260',
      iqn: 'iqn.2001-04.com.example:storage.disk1',
      lun: 3,
      portals: ['10.0.0.2:3260'],
      chapAuthSession: true,
      secretRef: { name: 'chap' },
      initiatorName: 'iqn.2001-04.com.example:init',
    },
  },
  { name: 'rbd', rbd: { monitors: ['10.0.0.1:6789'], image: 'img', pool: 'p', user: 'u', secretRef: { name: 's' } } },
  { name: 'cephfs', cephfs: { monitors: ['10.0.0.1:6789'], path: '/', user: 'u', secretRef: { name: 's' } } },
  { name: 'cinder', cinder: { volumeID: 'vol', fsType: 'ext4', secretRef: { name: 's' } } },
  { name: 'fc', fc: { targetWWNs: ['50060e801049cfd1'], lun: 0, fsType: 'ext4' } },
  { name: 'glusterfs', glusterfs: { endpoints: 'ep', path: 'vol' } },
  { name: 'flocker', flocker: { datasetName: 'd' } },
  { name: 'quobyte', quobyte: { registry: 'r:1', volume: 'v', user: 'u', group: 'g', tenant: 't' } },
]

const cloudVolumes = [
  { name: 'gce', gcePersistentDisk: { pdName: 'disk', fsType: 'ext4', partition: 1 } },
  { name: 'aws', awsElasticBlockStore: { volumeID: 'vol-1', fsType: 'ext4', partition: 2 } },
  { name: 'azurefile', azureFile: { secretName: 's', shareName: 'share' } },
  { name: 'azuredisk', azureDisk: { diskName: 'd', diskURI: 'https://x/d.vhd', cachingMode: 'None', kind: 'Shared' } },
  { name: 'vsphere', vsphereVolume: { volumePath: '[ds] v.vmdk', storagePolicyName: 'p' } },
  { name: 'photon', photonPersistentDisk: { pdID: 'pd' } },
  { name: 'portworx', portworxVolume: { volumeID: 'v' } },
  {
    name: 'scaleio',
    scaleIO: {
      gateway: 'https://g',
      system: 's',
      volumeName: 'v',
      secretRef: { name: 's' },
      storageMode: 'ThinProvisioned',
    },
  },
  { name: 'storageos', storageos: { volumeName: 'v', volumeNamespace: 'n', secretRef: { name: 's' } } },
  {
    name: 'flex',
    flexVolume: { driver: 'example.com/d', fsType: 'ext4', options: { a: 'b' }, secretRef: { name: 's' } },
  },
]

const localVolumes = [
  { name: 'empty', emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } },
  { name: 'host', hostPath: { path: '/var/log', type: 'DirectoryOrCreate' } },
  {
    name: 'secret',
    secret: { secretName: 's', defaultMode: 256, items: [{ key: 'k', path: 'a/b', mode: 511 }], optional: true },
  },
  { name: 'config', configMap: { name: 'c', defaultMode: 420, items: [{ key: 'k', path: 'p' }], optional: false } },
  {
    name: 'down',
    downwardAPI: {
      defaultMode: 292,
      items: [
        { path: 'labels', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.labels' }, mode: 256 },
        { path: 'cpu', resourceFieldRef: { containerName: 'c', resource: 'limits.cpu', divisor: '1m' } },
      ],
    },
  },
  { name: 'claim', persistentVolumeClaim: { claimName: 'pvc', readOnly: true } },
  { name: 'image', image: { reference: 'busybox:1', pullPolicy: 'IfNotPresent' } },
  {
    name: 'csi',
    csi: {
      driver: 'csi.example.com',
      fsType: 'ext4',
      volumeAttributes: { a: 'b' },
      nodePublishSecretRef: { name: 's' },
    },
  },
  {
    name: 'ephemeral',
    ephemeral: {
      volumeClaimTemplate: {
        metadata: { labels: { a: 'b' } },
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName: 'fast',
          volumeMode: 'Filesystem',
          resources: { requests: { storage: '1Gi' } },
        },
      },
    },
  },
]

const projected = {
  name: 'all',
  projected: {
    defaultMode: 420,
    sources: [
      { secret: { name: 's', items: [{ key: 'k', path: 'secret/k', mode: 256 }] } },
      { configMap: { name: 'c', items: [{ key: 'k', path: 'config/k' }], optional: true } },
      { downwardAPI: { items: [{ path: 'down/name', fieldRef: { fieldPath: 'metadata.name' } }] } },
      { serviceAccountToken: { audience: 'vault', expirationSeconds: 3600, path: 'token' } },
      {
        clusterTrustBundle: {
          signerName: 'example.com/s',
          labelSelector: { matchLabels: { a: 'b' } },
          path: 'bundle',
          optional: true,
        },
      },
      { clusterTrustBundle: { name: 'b', path: 'one' } },
      {
        podCertificate: {
          signerName: 'example.com/s',
          keyType: 'ED25519',
          maxExpirationSeconds: 86400,
          credentialBundlePath: 'creds',
        },
      },
    ],
  },
}

const probes = {
  containers: [
    container({
      ports: [
        { name: 'http', containerPort: 80, protocol: 'TCP' },
        { name: 'dns', containerPort: 53, protocol: 'UDP', hostIP: '127.0.0.1' },
      ],
      startupProbe: { exec: { command: ['true'] }, failureThreshold: 30, periodSeconds: 2 },
      livenessProbe: {
        httpGet: {
          path: '/live',
          port: 'http',
          host: 'x.example.com',
          scheme: 'HTTPS',
          httpHeaders: [{ name: 'X-A', value: 'b' }],
        },
        initialDelaySeconds: 1,
        timeoutSeconds: 2,
        periodSeconds: 3,
        successThreshold: 1,
        failureThreshold: 4,
        terminationGracePeriodSeconds: 5,
      },
      readinessProbe: { tcpSocket: { port: 80, host: '10.0.0.1' }, successThreshold: 2 },
      lifecycle: {
        postStart: { exec: { command: ['echo', 'x'] } },
        preStop: { httpGet: { path: '/stop', port: 8080, scheme: 'HTTP' } },
        stopSignal: 'SIGUSR1',
      },
      terminationMessagePath: '/dev/log',
      terminationMessagePolicy: 'FallbackToLogsOnError',
      stdin: true,
      stdinOnce: true,
      tty: true,
      workingDir: '/tmp',
      command: ['sh'],
      args: ['-c', 'sleep 1'],
    }),
    {
      name: 'd',
      image: 'busybox',
      livenessProbe: { grpc: { port: 9000, service: 'health' } },
      lifecycle: { preStop: { sleep: { seconds: 5 } }, postStart: { tcpSocket: { port: 80 } } },
      restartPolicy: 'OnFailure',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
    },
  ],
  initContainers: [
    { name: 'side', image: 'busybox', restartPolicy: 'Always', readinessProbe: { exec: { command: ['true'] } } },
    { name: 'i', image: 'busybox', env: [{ name: 'A', value: 'b' }] },
  ],
  os: { name: 'linux' },
  terminationGracePeriodSeconds: 10,
}

const environment = {
  containers: [
    container({
      env: [
        { name: 'PLAIN', value: '$(OTHER)' },
        { name: 'FIELD', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: "metadata.annotations['a']" } } },
        { name: 'RES', valueFrom: { resourceFieldRef: { resource: 'requests.memory', divisor: '1Mi' } } },
        { name: 'CM', valueFrom: { configMapKeyRef: { name: 'c', key: 'k', optional: true } } },
        { name: 'SEC', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
        { name: 'FILE', valueFrom: { fileKeyRef: { volumeName: 'env', path: 'a.env', key: 'K', optional: true } } },
      ],
      envFrom: [{ prefix: 'P_', configMapRef: { name: 'c', optional: true } }, { secretRef: { name: 's' } }],
      resources: {
        limits: {
          cpu: '1',
          memory: '64Mi',
          'ephemeral-storage': '1Gi',
          'example.com/gpu': '1',
          'hugepages-2Mi': '4Mi',
        },
        requests: { cpu: '100m', memory: '32Mi', 'example.com/gpu': '1', 'hugepages-2Mi': '4Mi' },
        claims: [{ name: 'dev', request: 'r' }],
      },
      resizePolicy: [
        { resourceName: 'cpu', restartPolicy: 'NotRequired' },
        { resourceName: 'memory', restartPolicy: 'RestartContainer' },
      ],
      volumeDevices: [{ name: 'block', devicePath: '/dev/xvda' }],
      volumeMounts: [
        { name: 'env', mountPath: '/env', subPath: 'a', mountPropagation: 'None' },
        { name: 'env', mountPath: '/env2', subPathExpr: '$(PLAIN)', readOnly: true, recursiveReadOnly: 'IfPossible' },
      ],
      securityContext: {
        allowPrivilegeEscalation: false,
        privileged: false,
        readOnlyRootFilesystem: true,
        runAsNonRoot: true,
        runAsUser: 1000,
        runAsGroup: 1000,
        procMount: 'Default',
        capabilities: { add: ['NET_BIND_SERVICE'], drop: ['ALL'] },
        seLinuxOptions: { level: 's0:c1', role: 'r', type: 't', user: 'u' },
        seccompProfile: { type: 'Localhost', localhostProfile: 'p/a.json' },
        appArmorProfile: { type: 'RuntimeDefault' },
      },
    }),
  ],
  resourceClaims: [
    { name: 'dev', resourceClaimTemplateName: 'tmpl' },
    { name: 'other', resourceClaimName: 'claim' },
  ],
  volumes: [
    { name: 'env', emptyDir: {} },
    { name: 'block', persistentVolumeClaim: { claimName: 'b' } },
  ],
  securityContext: {
    fsGroup: 2000,
    fsGroupChangePolicy: 'OnRootMismatch',
    runAsUser: 1,
    runAsGroup: 2,
    runAsNonRoot: true,
    supplementalGroups: [1, 2],
    supplementalGroupsPolicy: 'Merge',
    sysctls: [
      { name: 'kernel.shm_rmid_forced', value: '0' },
      { name: 'net.ipv4.tcp_syncookies', value: '1' },
    ],
    seccompProfile: { type: 'RuntimeDefault' },
    appArmorProfile: { type: 'Localhost', localhostProfile: 'p' },
    seLinuxOptions: { level: 's0' },
    seLinuxChangePolicy: 'MountOption',
  },
}

const term = {
  labelSelector: { matchLabels: { a: 'b' } },
  topologyKey: 'zone',
  namespaces: ['n'],
  namespaceSelector: { matchExpressions: [{ key: 'k', operator: 'Exists' }] },
}
const nodeTerm = {
  matchExpressions: [
    { key: 'k', operator: 'In', values: ['v'] },
    { key: 'n', operator: 'Gt', values: ['1'] },
  ],
  matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }],
}

const scheduling = {
  containers: [container()],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [nodeTerm] },
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 50, preference: nodeTerm }],
    },
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ ...term, matchLabelKeys: ['app'] }],
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }],
    },
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ ...term, mismatchLabelKeys: ['app'] }] },
  },
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'zone',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['b'] }] },
      minDomains: 2,
      nodeAffinityPolicy: 'Honor',
      nodeTaintsPolicy: 'Ignore',
      matchLabelKeys: ['rev'],
    },
    { maxSkew: 2, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
  ],
  tolerations: [
    { key: 'a', operator: 'Equal', value: 'b', effect: 'NoExecute', tolerationSeconds: 60 },
    { key: 'c', operator: 'Exists', effect: 'NoSchedule' },
    { operator: 'Exists', effect: 'PreferNoSchedule' },
  ],
  schedulingGates: [{ name: 'example.com/gate' }],
  readinessGates: [{ conditionType: 'example.com/ready' }],
  nodeSelector: { disk: 'ssd' },
  schedulerName: 'other',
  hostname: 'h',
  subdomain: 's',
  setHostnameAsFQDN: true,
  hostAliases: [
    { ip: '10.0.0.1', hostnames: ['a.example.com'] },
    { ip: 'fd00::1', hostnames: ['b'] },
  ],
  dnsPolicy: 'None',
  dnsConfig: {
    nameservers: ['10.0.0.10'],
    searches: ['x.example.com'],
    options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }],
  },
  imagePullSecrets: [{ name: 'reg' }],
  activeDeadlineSeconds: 600,
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  shareProcessNamespace: true,
  hostUsers: true,
  preemptionPolicy: 'PreemptLowerPriority',
  restartPolicy: 'OnFailure',
  resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi' } },
}

const windows = {
  os: { name: 'windows' },
  containers: [
    container({
      securityContext: {
        windowsOptions: { gmsaCredentialSpecName: 'g', runAsUserName: 'ContainerUser', hostProcess: false },
      },
    }),
  ],
  securityContext: {
    windowsOptions: { gmsaCredentialSpec: '{}', gmsaCredentialSpecName: 'g', runAsUserName: 'DOMAIN\\user' },
  },
}

export const richPods: readonly CorpusEntry[] = [
  withVolumes('net-volumes', networkVolumes),
  withVolumes('cloud-volumes', cloudVolumes),
  withVolumes('local-volumes', localVolumes),
  withVolumes('projected', [projected]),
  pod('probes', probes),
  pod('environment', environment),
  pod('scheduling', scheduling, { labels: { app: 'a', rev: '1' }, annotations: { a: 'b' } }),
  pod('windows', windows),
]
