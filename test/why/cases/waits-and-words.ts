/** What operators of others wait for, and how they say it: as their issues tell, set up by a stranger to the model. */
import type { Fields } from '../../../src/api/object.ts'
import { formatTime } from '../../../src/base/clock.ts'
import { define, operator, type Stage, workload } from '../stage.ts'
import { attachment, type Case, volume } from './case.ts'
import { stuck } from './other-software.ts'

const now = () => formatTime(Date.now())

const marked = async (stage: Stage, object: Fields) => {
  const [made] = await stage.make(object)
  await stage.remove(object)
  return made?.metadata.uid ?? ''
}

export const waitsAndWords: Readonly<Record<string, Case>> = {
  'tekton chains': {
    title:
      'Chains was removed, and its finalizer is on runs that the controller of Pipelines has written (tektoncd/chains)',
    async setUp(stage, namespace) {
      await operator(stage, 'tekton-pipelines-controller', 'tekton.dev')
      const finalizer = 'chains.tekton.dev/pipelinerun'
      return (await stuck(stage, { group: 'tekton.dev', kind: 'PipelineRun', namespace, finalizer })).question
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /Tekton Chains/,
  },
  'ack recoverable': {
    title: 'a controller for AWS says of its error that it may pass',
    async setUp(stage, namespace) {
      const group = 'ecr32.services.k8s.aws'
      await operator(stage, 'ecr32-controller', group)
      const message = 'RepositoryNotEmptyException: it still contains images'
      const conditions = [
        { type: 'ACK.ResourceSynced', status: 'False', message: 'Resource not synced', lastTransitionTime: now() },
        { type: 'ACK.Recoverable', status: 'True', message, lastTransitionTime: now() },
      ]
      const finalizer = `finalizers.${group}/Repository`
      const { question } = await stuck(stage, { group, kind: 'Bucket', namespace, finalizer, status: { conditions } })
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /^deployments\.apps\/ecr32-controller /,
    sentence: /still contains images/,
  },
  'kin went first': {
    title: 'a Database names its Cluster by a field of that name, and the Cluster went first (cloudnative-pg)',
    async setUp(stage, namespace) {
      const group = 'pg33.cnpg.test'
      await define(stage, group, 'Cluster')
      await operator(stage, 'pg33-operator', group)
      const spec = { cluster: { name: 'pg' }, owner: { name: 'app' } }
      const finalizer = 'cnpg.test/deleteDatabase'
      return (await stuck(stage, { group, kind: 'Database', namespace, finalizer, spec })).question
    },
    verdict: 'nobody',
    cause: 'needs-missing',
    responsible: /the controller of Database/,
    sentence: /clusters\/pg .* names it in cluster/,
  },
  'nodeclass in use': {
    title: 'a NodeClass of Karpenter waits for NodeClaims, which are of another group of the same software',
    async setUp(stage, namespace) {
      const [own, other] = ['karpenter.k8s.aws', 'karpenter.sh']
      await define(stage, own, 'EC2NodeClass34')
      await define(stage, other, 'NodeClaim34')
      await operator(stage, 'karpenter-aws34', own)
      const nodeClassRef = { group: own, kind: 'EC2NodeClass34', name: 'a' }
      const metadata = { name: 'a', namespace }
      await stage.make({ apiVersion: `${other}/v1`, kind: 'NodeClaim34', metadata, spec: { nodeClassRef } })
      const held = { ...metadata, finalizers: ['karpenter.k8s.aws/termination'] }
      await marked(stage, { apiVersion: `${own}/v1`, kind: 'EC2NodeClass34', metadata: held })
      return { kind: 'ec2nodeclass34', name: 'a' }
    },
    verdict: 'will-end',
    cause: 'in-use',
    responsible: /nodeclaim34s\.karpenter\.sh\/a/,
  },
  'bound content': {
    title: 'the content of a snapshot is protected as long as the snapshot is bound to it',
    async setUp(stage, namespace) {
      const group = 'snapshots35.test'
      await define(stage, group, 'Shot')
      await define(stage, group, 'ShotContent')
      await operator(stage, 'snapshots35-operator', group)
      const shot = { apiVersion: `${group}/v1`, kind: 'Shot', metadata: { name: 's', namespace } }
      await stage.make(shot)
      await stage.status(shot, { boundShotContentName: 'c' })
      const metadata = { name: 'c', namespace, finalizers: [`${group}/bound-protection`] }
      await marked(stage, { apiVersion: `${group}/v1`, kind: 'ShotContent', metadata })
      return { kind: 'shotcontent', name: 'c' }
    },
    verdict: 'will-end',
    cause: 'in-use',
    responsible: /shots\.snapshots35\.test\/s/,
  },
  'event says': {
    title: 'an operator says by an Event that is no warning what it waits for',
    async setUp(stage, namespace) {
      const group = 'lake36.test'
      await operator(stage, 'lake36-operator', group)
      const finalizer = `${group}/cleanup`
      const { question, object, uid } = await stuck(stage, { group, kind: 'Lake', namespace, finalizer })
      const { apiVersion, kind, metadata } = object
      await stage.make({
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'x.1', namespace },
        involvedObject: { apiVersion, kind, name: metadata.name, namespace, uid },
        ...{ type: 'Normal', reason: 'Waiting', message: 'waiting for the final snapshot', count: 1 },
        ...{ source: { component: 'lake36-operator' }, firstTimestamp: now(), lastTimestamp: now() },
      })
      return question
    },
    verdict: 'slow',
    cause: 'controller-at-work',
    responsible: /lake36-operator/,
    sentence: /it says: waiting for the final snapshot/,
  },
  'detach error': {
    title: 'a driver says why it cannot detach a disk: that its node plugin is gone, too, does not matter then',
    async setUp(stage) {
      await stage.make(volume('detached-37'))
      const object = attachment('case-37', 'nowhere-37', 'detached-37')
      await marked(stage, object)
      const detachError = { time: now(), message: 'UnauthorizedOperation: ec2:DetachVolume' }
      await stage.status(object, { attached: true, detachError })
      return { kind: 'volumeattachment', name: 'case-37' }
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /the controller of VolumeAttachment/,
    sentence: /UnauthorizedOperation/,
  },
  'project in use': {
    title: 'a project of Argo CD goes when no Application is in it any more',
    async setUp(stage, namespace) {
      const [group, finalizers] = ['project41.argoproj.test', ['resources-finalizer.argocd.argoproj.io']]
      await define(stage, group, 'Application')
      await operator(stage, 'argocd-project41', group)
      const web = { apiVersion: `${group}/v1`, kind: 'Application', metadata: { name: 'web', namespace } }
      await stage.make({ ...web, spec: { project: 'shop' } })
      const project = {
        group,
        kind: 'AppProject',
        namespace,
        finalizer: '',
        metadata: { name: 'shop', namespace, finalizers },
      }
      await stuck(stage, { ...project })
      return { kind: `appproject.${group}`, name: 'shop' }
    },
    verdict: 'will-end',
    cause: 'in-use',
    responsible: /applications\.project41\.argoproj\.test\/web/,
  },
  'like-named program': {
    title: 'an operator was removed; a program of the same name that asks no API server stays',
    async setUp(stage, namespace) {
      const system = await stage.namespace('tulip42-system')
      const program = workload(system, 'tulip42')
      const { serviceAccountName: _, ...spec } = program['spec'].template.spec
      await stage.make({ ...program, spec: { ...program['spec'], template: { ...program['spec'].template, spec } } })
      const group = 'tulip42.test'
      return (await stuck(stage, { group, kind: 'Bulb', namespace, finalizer: `${group}/cleanup` })).question
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /tulip42\.test\/cleanup/,
  },
}
