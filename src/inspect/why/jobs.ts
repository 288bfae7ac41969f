/** Jobs: that of a pod, which another controller may care for, and those by which a controller cleans up after its object. */
import type { Job, Pod } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { asTold } from './as-told.ts'
import { wordsOf } from './controllers.ts'
import type { Named } from './failures.ts'
import { type Link, lastLink, type ObjectRef } from './finding.ts'
import type { KnownFinalizer } from './known-finalizers.ts'
import { deletedAt, foundOf, itemsOf, kubectlName, type Look, PODS, timeOf } from './look.ts'
import { isStartingUp, podProblem } from './workloads.ts'

const JOBS = { group: 'batch', version: 'v1', resource: 'jobs' }
const OWN_CONTROLLER = 'kubernetes.io/job-controller'

/** A Job's `spec.managedBy` (KEP-4368) names the controller that cares for it and its pods: that of Kubernetes leaves them alone then. */
export async function managerOfJob(
  look: Look,
  ref: ObjectRef,
  { metadata }: KubeObject,
  known: KnownFinalizer | undefined,
): Promise<KnownFinalizer | undefined> {
  if (known?.account !== 'job-controller') return known
  const owner = metadata.ownerReferences?.find(({ kind, controller }) => kind === 'Job' && controller === true)
  if (owner === undefined) return known
  const job = foundOf(await look.reader.get<Job>(JOBS, ref.namespace, owner.name))
  const manager = job?.metadata.uid === owner.uid ? job.spec?.managedBy : undefined
  if (manager === undefined || manager === OWN_CONTROLLER) return known
  const { account: _, ...rest } = known
  return { ...rest, controller: `${manager}, which Job ${owner.name} is managed by`, runsIn: wordsOf(manager, ref) }
}

/** A Job that the object's controller made for its end and that fails, or whose pod does not start: owned by it, or listed in its status. */
export async function failingJobs(
  look: Look,
  ref: ObjectRef,
  object: KubeObject,
  namespaces: readonly string[],
  made: readonly Pick<Named, 'kind' | 'group' | 'name' | 'namespace'>[],
): Promise<readonly Link[]> {
  const since = deletedAt(object.metadata)
  const jobs = made.filter(({ kind, group }) => kind === 'Job' && group === JOBS.group)
  const isListed = ({ metadata }: Job) =>
    jobs.some(({ name, namespace }) => name === metadata.name && namespace === metadata.namespace)
  const spaces = [...new Set([...namespaces, ...jobs.map(({ namespace }) => namespace)])].filter((one) => one !== '')
  const lists = await Promise.all(spaces.map((namespace) => look.reader.list<Job>(JOBS, { namespace })))
  const newest = lists
    .flatMap(itemsOf)
    .filter(
      (job) =>
        (isListed(job) || job.metadata.ownerReferences?.some(({ uid }) => uid === ref.uid) === true) &&
        timeOf(job.metadata.creationTimestamp) >= since - 1000,
    )
    .toSorted((a, b) => timeOf(a.metadata.creationTimestamp) - timeOf(b.metadata.creationTimestamp))
    .at(-1)
  const said = newest === undefined ? undefined : await complaintOf(look, newest)
  if (newest === undefined || said === undefined) return []
  const { name = '', namespace } = newest.metadata
  const controller = `${kubectlName({ ...JOBS, name })} in namespace ${namespace}`
  return [lastLink('refused', { kind: 'controller-failing', controller, source: 'status', ...said })]
}

async function complaintOf(look: Look, { metadata, status }: Job) {
  const is = (type: string) => status?.conditions?.find((one) => one.type === type && one.status === 'True')
  const failed = is('Failed')
  if (failed !== undefined) {
    const { reason = '', message = '', lastTransitionTime: at = '' } = failed
    return { reason, message: asTold(message), at }
  }
  if (is('Complete') !== undefined) return undefined
  const { name = '', namespace = '' } = metadata
  const labelSelector = `batch.kubernetes.io/job-name=${name}`
  const pods = itemsOf(await look.reader.list<Pod>(PODS, { namespace, labelSelector }))
  const pod = pods.find((one) => !isStartingUp(one))
  if (pod === undefined) return undefined
  return {
    reason: `pod ${pod.metadata.name} does not run`,
    message: asTold(podProblem(pod)),
    at: metadata.creationTimestamp ?? '',
  }
}
