import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataOf } from './controller-revision.ts'
import { dataHash, templateHash } from './pod-template-hash.ts'

const podSpec = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
}
const container = {
  name: 'c',
  image: 'i:1',
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
}
const template = (parts: { image?: string; container?: object; spec?: object } = {}) => ({
  metadata: { labels: { app: 'a' } },
  spec: {
    containers: [{ ...container, image: parts.image ?? 'i:1', ...parts.container }],
    ...podSpec,
    ...parts.spec,
  },
})

test('templates hash to the names that a real cluster gave them', () => {
  assert.equal(templateHash(template()), '565f7894b6')
  assert.equal(templateHash(template({ image: 'i:2' })), '675784f59')
  assert.equal(templateHash(template({ spec: { nodeSelector: { none: 'such' } } })), '7f5d5d69b8')
  const soon = ['not-ready', 'unreachable'].map((name) => ({
    key: `node.kubernetes.io/${name}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 5,
  }))
  assert.equal(templateHash(template({ spec: { tolerations: soon } })), '79ffcf8fb')
})

test('embedded structs, quantities, probes and ports are hashed as Go has them', () => {
  const rich = {
    metadata: { labels: { app: 'a', b: 'x"y' }, annotations: { q: '1' } },
    spec: {
      containers: [
        {
          ...container,
          command: ['a', 'b'],
          ports: [{ containerPort: 80, protocol: 'TCP' }],
          env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 's', key: 'k', optional: true } } }],
          readinessProbe: {
            httpGet: { path: '/', port: 'http', scheme: 'HTTP' },
            timeoutSeconds: 1,
            periodSeconds: 10,
            successThreshold: 1,
            failureThreshold: 3,
          },
          resources: {
            requests: { cpu: '100m', memory: '1536Mi', 'ephemeral-storage': '1' },
            limits: { cpu: '500m' },
          },
          securityContext: { runAsUser: 0, runAsNonRoot: false, capabilities: { drop: ['ALL'] } },
        },
      ],
      volumes: [
        { name: 'v', configMap: { name: 'x', defaultMode: 420, items: [{ key: 'a', path: 'b' }] } },
        { name: 'e', emptyDir: { sizeLimit: '1Gi' } },
      ],
      tolerations: [{ key: 'a', operator: 'Exists', tolerationSeconds: 5 }],
      ...podSpec,
      nodeSelector: { a: 'b', none: 'such' },
      securityContext: { fsGroup: 1 },
      affinity: {
        nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: {} }] },
      },
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'z',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { x: 'y' } },
        },
      ],
    },
  }
  assert.equal(templateHash(rich), '6f795dddcc')
})

test('a collision count changes the hash', () => {
  assert.notEqual(templateHash(template(), 1), templateHash(template()))
})

test('the data of revisions hashes to the names that a real cluster gave them', () => {
  const data = (image: string) => dataOf({ ...template({ image }), metadata: { labels: { app: 's' } } })
  assert.equal(dataHash(data('i:1'), 0), '5cc445fdfc')
  assert.equal(dataHash(data('i:2'), 0), '655c4686fb')
  assert.notEqual(dataHash(data('i:1'), 1), dataHash(data('i:1'), 0))
})
