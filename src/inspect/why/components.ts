/** Whether a component of Kubernetes itself runs: by its lease, else by its pods, else by what it leaves behind. */
import type { Lease, Pod } from '../../api/generated/types.ts'
import { type FinalizerOwner, type Link, lastLink } from './finding.ts'
import { foundOf, itemsOf, LEASES, type Look, PODS, SERVICE_ACCOUNTS, timeOf } from './look.ts'

const SYSTEM = 'kube-system'
/** A lease that is this much older than it may be is no longer held. */
const LATE_MS = 15_000

/** @param on what it would work on now, in words */
export async function componentLink(look: Look, component: string, controller: string, on: string): Promise<Link> {
  const { reader, now } = look
  const found: FinalizerOwner = { name: `${controller} (${component})`, as: 'component', evidence: '' }
  if (component === 'kube-apiserver')
    return atWork({ ...found, evidence: 'it is part of the API server, which answers' }, on)
  const leases = await reader.list<Lease>(LEASES, { namespace: SYSTEM })
  const lease = itemsOf(leases).find(({ metadata }) => metadata?.name === component)
  if (lease !== undefined) {
    const { renewTime, leaseDurationSeconds = 15, holderIdentity = '' } = lease.spec ?? {}
    const due = timeOf(renewTime) + leaseDurationSeconds * 1000 + LATE_MS
    if (holderIdentity !== '' && now <= due)
      return atWork({ ...found, evidence: `it renewed its lease ${SYSTEM}/${component} at ${renewTime}` }, on)
    return lastLink('nobody', {
      kind: 'controller-not-leading',
      controller: { ...found, evidence: `lease ${SYSTEM}/${component}` },
      lease: `${SYSTEM}/${component}`,
      renewed: renewTime ?? '',
    })
  }
  const pods = itemsOf(await reader.list<Pod>(PODS, { namespace: SYSTEM, labelSelector: `component=${component}` }))
  const ready = pods.find(({ status }) =>
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
  )
  if (ready !== undefined)
    return atWork({ ...found, evidence: `its pod ${SYSTEM}/${ready.metadata?.name} is ready` }, on)
  if (component !== 'kube-controller-manager') return missing(component, controller)
  // Each namespace gets a default account from it: where even `default` has none, it has never run.
  const account = await reader.get(SERVICE_ACCOUNTS, 'default', 'default')
  if (account.state === 'missing') return missing(component, controller)
  const evidence =
    foundOf(account) === undefined
      ? 'nothing says that it does not run: its lease may not be seen'
      : 'it has made the service account default/default; it holds no lease'
  return lastLink('slow', { kind: 'controller-at-work', controller: { ...found, evidence }, on }, true)
}

function atWork(controller: FinalizerOwner, on: string): Link {
  return lastLink('slow', { kind: 'controller-at-work', controller, on })
}

function missing(component: string, controller: string): Link {
  return lastLink(
    'nobody',
    {
      kind: 'controller-missing',
      finalizer: '',
      controller: `${controller} (${component})`,
      looked: [
        `lease ${SYSTEM}/${component}`,
        `pods in ${SYSTEM} labelled component=${component}`,
        ...(component === 'kube-controller-manager' ? ['the service account default/default, which it makes'] : []),
      ],
    },
    true,
  )
}
