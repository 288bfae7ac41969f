/** Links and verdicts in words: one sentence each. What is quoted of a cluster is made plain where it is written out. */
import type { Cause, FinalizerOwner, ObjectRef, ServiceRef, Verdict } from './finding.ts'
import { kubectlName } from './look.ts'

export const VERDICT_WORDS: Readonly<Record<Verdict, string>> = {
  'not-stuck': 'not stuck',
  'will-end': 'will end by itself',
  slow: 'slow',
  nobody: 'nobody is there',
  refused: 'refused',
  'cannot-end': 'cannot end',
}

export const objectWords = (ref: ObjectRef): string =>
  `${kubectlName(ref)}${ref.namespace === '' ? '' : ` in namespace ${ref.namespace}`}`

const by = ({ name, evidence }: FinalizerOwner) => (evidence === '' ? name : `${name} (${evidence})`)
const at = (time: string | undefined) => (time === undefined || time === '' ? '' : ` at ${time}`)
const serviceWords = (service: ServiceRef | undefined) =>
  service === undefined || service.problem === ''
    ? ''
    : ` (Service ${service.namespace}/${service.name}: ${service.problem})`
const several = (count: number, one: string, more: string) => `${count} ${count === 1 ? one : more}`

const TROUBLE = {
  container: 'a container cannot be killed',
  sandbox: 'the pod sandbox (its network) cannot be taken down',
  volume: 'a volume cannot be unmounted',
  runtime: 'the container runtime does not let go of a container',
  other: 'the pod cannot be ended',
} as const

export function sentenceOf(cause: Cause): string {
  switch (cause.kind) {
    case 'not-deleted':
      return `it is not being deleted${cause.note === '' ? '' : `: ${cause.note}`}`
    case 'gone':
      return cause.note
    case 'marked':
      return `${objectWords(cause.object)} was deleted at ${cause.since}${cause.graceSeconds > 0 ? ` with a grace period of ${cause.graceSeconds} s` : ''}${cause.finalizers.length === 0 ? '' : `, and has the finalizer${cause.finalizers.length > 1 ? 's' : ''} ${cause.finalizers.join(', ')}`}`
    case 'grace-period':
      return `its grace period lasts until ${cause.ends}; the kubelet of node ${cause.node} ends its containers`
    case 'finalizer':
      return `finalizer ${cause.finalizer}${cause.controller === '' ? '' : ` of the ${cause.controller}`}${cause.does === '' ? '' : `, which ${cause.does}`}${cause.setBy === undefined ? '' : ` (set by ${cause.setBy}${at(cause.setAt)})`}`
    case 'controller-at-work':
      return `${by(cause.controller)} is there and works on ${cause.on}${cause.says === undefined ? '' : `; it says: ${cause.says}`}`
    case 'controller-missing':
      return `${cause.finalizer === '' ? `the ${cause.controller}` : `the controller that takes ${cause.finalizer} away${cause.controller === '' ? '' : ` (${cause.controller})`}`} was not found; looked for: ${cause.looked.join('; ')}`
    case 'controller-not-running':
      return `${by(cause.controller)} does not run: ${cause.reason}`
    case 'controller-elsewhere':
      return `${by(cause.controller)} runs, but does not look at namespace ${cause.namespace}: its ${cause.by} names ${cause.serves.join(', ')} alone`
    case 'controller-not-leading':
      return `${cause.controller.name} does not lead: lease ${cause.lease} was last renewed${at(cause.renewed) || ' never'}`
    case 'controller-forbidden':
      return `${by(cause.controller)} may not ${cause.verb} ${cause.resource}: no role lets its service account ${cause.account}`
    case 'controller-failing':
      return `${cause.controller} fails${at(cause.at)}: ${cause.reason}: ${cause.message}`
    case 'overdue':
      return `${cause.controller} is there and has nothing to wait for, but has done nothing since ${cause.since}: it has lost sight of it`
    case 'needs-missing':
      return `${cause.what} does not exist: ${cause.named}`
    case 'paused':
      return cause.by.includes('.hook.')
        ? `it is left alone until ${cause.controller} takes ${cause.by} away`
        : `${cause.controller} was told to leave it alone, by ${cause.by}`
    case 'lost-owner':
      return `its owner ${cause.owner} is lost: ${cause.note}`
    case 'unserved-owner':
      return `the garbage collector does nothing about ${objectWords(cause.object)}: it names its owner ${cause.owner} by ${cause.apiVersion}, which no API serves`
    case 'misplaced-owner':
      return `the garbage collector does nothing about ${objectWords(cause.object)}: it is in no namespace, and names an owner that is in one (${objectWords(cause.owner)})`
    case 'namespace-terminating':
      return `${cause.controller} must create something in namespace ${cause.namespace}, which is being deleted itself and waits for this object: ${cause.message}`
    case 'blocking-dependent':
      return `it waits for its dependent ${objectWords(cause.dependent)} (blockOwnerDeletion)${cause.count > 1 ? `, one of ${cause.count}` : ''}`
    case 'part':
      return `its controller waits for ${objectWords(cause.part)}, ${cause.how === 'made' ? 'which it owns and which was made after its delete' : `which it ${cause.how === 'owned' ? 'owns' : 'names'}, and which is being deleted too`}`
    case 'owner-cycle':
      return `each waits for the next, and the last for the first: ${cause.objects.map(objectWords).join(' → ')}`
    case 'in-use':
      return `${objectWords(cause.by)} is in the way: ${cause.how}${cause.isDeleted ? '' : ', and is not being deleted'}`
    case 'attachment':
      return `${kubectlName(cause.attachment)} attaches it to node ${cause.node} (${cause.driver})`
    case 'driver-missing':
      return `the driver ${cause.driver} is not on node ${cause.node}: ${cause.part}`
    case 'volume-missing':
      return `its volume persistentvolumes/${cause.volume} does not exist any more`
    case 'silent-node':
      return `node ${cause.node} is silent${cause.since === '' ? '' : ` since ${cause.since}`} (${cause.message}): ${cause.what === undefined ? 'only its kubelet can say that the containers have ended' : `${cause.what} is on it, and what has to end that runs there`}`
    case 'missing-node':
      return `node ${cause.node} does not exist any more`
    case 'kubelet-failing':
      return `${TROUBLE[cause.what]}, says the kubelet of node ${cause.node}${at(cause.at)}: ${cause.reason}: ${cause.message}`
    case 'kubelet-at-work':
      return `${cause.node === '' ? '' : `the kubelet of node ${cause.node} is there; `}${cause.note}`
    case 'namespace-content': {
      const held = cause.finalizers.length === 0 ? '' : ` with ${cause.finalizers.join(', ')}`
      if (cause.turn === 'next')
        return `once the pods are gone, ${several(cause.count, cause.singular, cause.resource)} of namespace ${cause.namespace}${held} would be left`
      return `${several(cause.count, cause.singular, cause.resource)} left in namespace ${cause.namespace}${held}${cause.turn === 'first' ? ': pods go first, everything else waits behind them' : ''}`
    }
    case 'instances':
      return `${several(cause.count, 'instance', 'instances')} of ${cause.definition} left${cause.finalizers.length === 0 ? '' : ` with ${cause.finalizers.join(', ')}`}`
    case 'api-unavailable':
      return `the aggregated API ${cause.apiService} does not answer, so what it holds is unknown: ${cause.reason}: ${cause.message}${serviceWords(cause.service)}`
    case 'conversion-webhook':
      return `objects of ${cause.definition} cannot be read: its conversion webhook fails${serviceWords(cause.service)}: ${cause.message}`
    case 'admission-refuses':
      return `${cause.by === 'server' ? 'the API server' : cause.by === 'webhook' ? `webhook ${cause.name}` : `ValidatingAdmissionPolicy ${cause.name}`} refuses the ${cause.operation}${serviceWords(cause.service)}: ${cause.message}`
    case 'put-back':
      return `taking ${cause.finalizer} off is accepted, and put back on the way by ${cause.by.length === 0 ? 'something that mutates the object' : cause.by.join(', ')}`
    case 'budget':
      return `${objectWords(cause.budget)} refuses the eviction of ${objectWords(cause.pod)}, which a drain of node ${cause.node} waits for: ${cause.message}`
    case 'drain':
      return `${cause.note}; node ${cause.node} is not drained`
    case 'unreadable':
      return `${cause.object} cannot be read${cause.isDecryption ? ': it cannot be decrypted, the key of the encryption at rest is gone' : ''}: ${cause.message}`
    case 'unseen':
      return `not known: ${cause.what} (${cause.why})`
    case 'more':
      return cause.what
  }
}

/** The part that has to act, in a few words; '' where none has to. */
export function responsibleFor(cause: Cause): string {
  switch (cause.kind) {
    case 'not-deleted':
    case 'gone':
    case 'marked':
    case 'namespace-content':
    case 'instances':
    case 'drain':
    case 'more':
      return ''
    case 'unseen':
      return ''
    case 'grace-period':
    case 'silent-node':
    case 'kubelet-failing':
      return `kubelet of node ${cause.node}`
    case 'kubelet-at-work':
      return cause.node === '' ? '' : `kubelet of node ${cause.node}`
    case 'missing-node':
      return `node ${cause.node}`
    case 'finalizer':
    case 'controller-missing':
      return cause.finalizer === ''
        ? cause.controller
        : `the controller of ${cause.finalizer}${cause.controller === '' ? '' : ` (${cause.controller})`}`
    case 'controller-at-work':
    case 'controller-not-running':
    case 'controller-elsewhere':
    case 'controller-not-leading':
    case 'controller-forbidden':
      return cause.controller.name
    case 'controller-failing':
    case 'overdue':
    case 'namespace-terminating':
    case 'needs-missing':
    case 'paused':
      return cause.controller
    case 'unserved-owner':
    case 'lost-owner':
      return `owner ${cause.owner}`
    case 'misplaced-owner':
      return objectWords(cause.object)
    case 'blocking-dependent':
      return objectWords(cause.dependent)
    case 'part':
      return objectWords(cause.part)
    case 'owner-cycle':
      return cause.objects.map(objectWords).join(', ')
    case 'in-use':
      return objectWords(cause.by)
    case 'attachment':
      return `external-attacher of ${cause.driver}`
    case 'driver-missing':
      return `driver ${cause.driver} on node ${cause.node}`
    case 'volume-missing':
      return `persistentvolumes/${cause.volume}`
    case 'api-unavailable':
      return `apiservices/${cause.apiService}`
    case 'conversion-webhook':
      return `conversion webhook of ${cause.definition}`
    case 'admission-refuses':
      return cause.by === 'server'
        ? 'the API server'
        : cause.by === 'webhook'
          ? `webhook ${cause.name}${cause.configuration === undefined ? '' : ` of ${cause.configuration}`}`
          : `ValidatingAdmissionPolicy ${cause.name}`
    case 'put-back':
      return cause.by.join(', ')
    case 'budget':
      return objectWords(cause.budget)
    case 'unreadable':
      return cause.isDecryption ? 'encryption at rest of the API server' : 'the API server'
  }
}
