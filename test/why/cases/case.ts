/** What a documented cause of a deletion that hangs consists of: how it is set up, and what `why` must find; and the objects that several of them use. */
import type { Fields, KubeObject } from '../../../src/api/object.ts'
import { formatTime } from '../../../src/base/clock.ts'
import type { Stage } from '../stage.ts'

export interface Case {
  readonly title: string
  /** Sets it up in a namespace of its own; returns what is asked about, and what else belongs to the whole cluster. */
  setUp(stage: Stage, namespace: string): Promise<Question>
  readonly verdict: string
  readonly cause: string
  readonly responsible: RegExp
  /** What the sentence about the last cause must say. */
  readonly sentence?: RegExp
  /** Where it is not that of the verdict. */
  readonly exitCode?: number
}

export interface Question {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly later?: number
  /** What would be in the way of other cases. */
  readonly remove?: readonly Fields[]
  undo?(): Promise<unknown>
}

export const held = { finalizers: ['acme.test/cleanup'] }
export const LATER = 50_000

/** What is said in a status is said after the delete, which comes once all is made. */
export const soon = (): string => formatTime(Date.now() + 5000)
export const says = (type: string, status: string, reason: string, message: string, at = soon()) => ({
  conditions: [{ type, status, reason, message, lastTransitionTime: at }],
})
export const instance = (group: string, kind: string, namespace: string, name: string, more: Fields = {}): Fields => ({
  apiVersion: `${group}/v1`,
  kind,
  ...more,
  metadata: { name, namespace, ...more['metadata'] },
})
export const namespaceOf = (name: string): Fields => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
export const isMarked = ({ metadata }: Fields): boolean => metadata.deletionTimestamp !== undefined

/** An APIService whose Service is not there. */
export const unserved = (group: string): Fields => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: `v1.${group}` },
  spec: {
    group,
    version: 'v1',
    groupPriorityMinimum: 100,
    versionPriority: 10,
    insecureSkipTLSVerify: true,
    service: { name: 'agg', namespace: 'gone-system' },
  },
})

/** A server takes a new policy into force within a second or so: until a dry run shows it. */
export async function inForce(stage: Stage, object: Fields, isIt: (answer: Promise<KubeObject>) => Promise<boolean>) {
  const body = { metadata: { finalizers: null } } as never
  for (let times = 0; times < 1000; times++) {
    const answer = stage.of(object).patch(object['metadata'].name, 'merge', body, { dryRun: true })
    if (await isIt(answer)) return
  }
  throw new Error('the policy did not come into force')
}

export const ownerOf = (object: Fields, uid: string, more: Fields = {}): Fields => ({
  ownerReferences: [
    { apiVersion: object['apiVersion'], kind: object['kind'], name: object['metadata'].name, uid, ...more },
  ],
})

export const failingHook = (name: string, rules: Fields): Fields => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name },
  webhooks: [
    {
      name: `${name}.acme.test`,
      clientConfig: { service: { namespace: 'gone-system', name: 'gone', path: '/validate' }, caBundle: '' },
      rules: [{ apiVersions: ['*'], scope: '*', ...rules }],
      failurePolicy: 'Fail',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      timeoutSeconds: 2,
    },
  ],
})

export const volume = (name: string, more: Fields = {}, metadata: Fields = {}): Fields => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name, ...metadata },
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'none',
    csi: { driver: 'csi.acme.test', volumeHandle: name },
    ...more,
  },
})

export const claim = (namespace: string, name: string, more: Fields = {}, metadata: Fields = {}): Fields => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace, ...metadata },
  spec: {
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'none',
    resources: { requests: { storage: '1Gi' } },
    ...more,
  },
})

/** Kubernetes' own protection of a claim that no pod uses is taken off at once, but not in the same moment. */
export const isUnprotected = ({ metadata }: KubeObject): boolean =>
  metadata.finalizers?.includes('kubernetes.io/pvc-protection') !== true

export const attachment = (name: string, nodeName: string, persistentVolumeName: string): Fields => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'VolumeAttachment',
  metadata: { name, finalizers: ['external-attacher/csi-acme-test'] },
  spec: { attacher: 'csi.acme.test', nodeName, source: { persistentVolumeName } },
})
