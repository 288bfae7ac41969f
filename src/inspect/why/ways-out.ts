/** What can be done, safest first, and what each would leave behind. Nothing of it is done here. */
import { shellWord } from '../../base/plain-text.ts'
import type { Cause, Link, ObjectRef } from './finding.ts'
import { knownFinalizer, LEAVES_UNKNOWN } from './known-finalizers.ts'

export interface WayOut {
  readonly what: string
  /** A command to copy, where one does it. */
  readonly command?: string
  readonly leaves: string
}

/** The lower, the safer. */
type Risk = 0 | 1 | 2 | 3 | 4 | 5
type Rated = WayOut & { readonly risk: Risk }

const NOTHING = 'nothing'

/** As an API server refuses what no role allows. */
const DENIED =
  /is forbidden: User "(?<user>[^"]{1,300})" cannot (?<verb>[a-z*]{1,30}) resource "(?<resource>[^"]{1,300})"/

/** Of the links from an object to its last cause. */
export function waysOut(path: readonly Link[]): readonly WayOut[] {
  const rated = path.toReversed().flatMap(({ cause }) => waysFor(cause, path))
  const seen = new Set<string>()
  return rated
    .filter(({ what, command }) => {
      const key = command ?? what
      return !seen.has(key) && seen.add(key) !== undefined
    })
    .toSorted((a, b) => a.risk - b.risk)
    .map(({ what, command, leaves }) => ({ what, ...(command === undefined ? {} : { command }), leaves }))
}

const kubectl = (...words: string[]) => `kubectl ${words.map(shellWord).join(' ')}`
const inNamespace = (namespace: string) => (namespace === '' ? [] : ['-n', namespace])
const typeOf = ({ group, version, resource }: ObjectRef) =>
  group === '' ? resource : `${resource}.${version}.${group}`
const way = (risk: Risk, what: string, leaves: string, command?: string): Rated => ({
  risk,
  what,
  leaves,
  ...(command === undefined ? {} : { command }),
})

const WAIT = way(0, 'wait', NOTHING)

function waysFor(cause: Cause, path: readonly Link[]): readonly Rated[] {
  switch (cause.kind) {
    case 'not-deleted':
    case 'gone':
    case 'marked':
    case 'namespace-content':
    case 'instances':
    case 'blocking-dependent':
    case 'part':
    case 'attachment':
    case 'drain':
    case 'more':
      return []
    case 'grace-period':
    case 'controller-at-work':
    case 'kubelet-at-work':
      return [WAIT]
    case 'finalizer':
      return [finalizerOff(cause.object, cause.finalizer, cause.inSpec === true)]
    case 'controller-missing':
      return [
        way(
          1,
          `bring the ${cause.controller || `controller of ${cause.finalizer}`} back (install it again); it ends the object by itself`,
          NOTHING,
        ),
      ]
    case 'controller-not-running':
      return [
        way(
          1,
          `let ${cause.controller.name} run again`,
          NOTHING,
          cause.controller.workload === undefined
            ? undefined
            : kubectl(
                'describe',
                `${typeOf(cause.controller.workload)}/${cause.controller.workload.name}`,
                ...inNamespace(cause.controller.workload.namespace),
              ),
        ),
      ]
    case 'controller-elsewhere':
      return [way(1, `let ${cause.controller.name} serve namespace ${cause.namespace} too (${cause.by})`, NOTHING)]
    case 'controller-not-leading':
      return [way(1, `restart ${cause.controller.name}: its lease ${cause.lease} is no longer renewed`, NOTHING)]
    case 'controller-forbidden':
      return [
        way(1, `give the service account ${cause.account} its role back (${cause.verb} on ${cause.resource})`, NOTHING),
      ]
    case 'controller-failing': {
      const denied = DENIED.exec(cause.message)?.groups
      if (denied !== undefined)
        return [way(1, `give ${denied['user']} the right back to ${denied['verb']} ${denied['resource']}`, NOTHING)]
      return [
        way(
          1,
          `mend what ${cause.controller} complains of${cause.source === 'log' ? '' : `: ${cause.reason}`}`,
          NOTHING,
        ),
      ]
    }
    case 'overdue':
      return [
        way(1, `restart the component that it runs in: ${cause.controller} looks at everything anew then`, NOTHING),
      ]
    case 'needs-missing':
      return [way(1, `make ${cause.what} again, as it was`, NOTHING)]
    case 'paused':
      return [way(1, `take ${cause.by} away: the object's controller goes on from there`, NOTHING)]
    case 'lost-owner':
      return [way(1, `make ${cause.owner} again where its controller goes by its name`, NOTHING)]
    case 'unserved-owner':
      return [
        way(
          1,
          `name the owner by an apiVersion that is served (ownerReferences of ${cause.object.kind} ${cause.object.name})`,
          NOTHING,
          kubectl('edit', `${typeOf(cause.object)}/${cause.object.name}`, ...inNamespace(cause.object.namespace)),
        ),
        way(
          2,
          'delete the dependent, when it is meant to go with its owner',
          `nothing; ${cause.object.kind} ${cause.object.name} is gone then`,
          kubectl('delete', `${typeOf(cause.object)}/${cause.object.name}`, ...inNamespace(cause.object.namespace)),
        ),
      ]
    case 'misplaced-owner':
      return [
        way(
          1,
          `take the owner that is in a namespace out of the ownerReferences of ${cause.object.kind} ${cause.object.name}: such a reference never works`,
          `${cause.object.kind} ${cause.object.name}, which goes with no owner`,
          kubectl('edit', `${typeOf(cause.object)}/${cause.object.name}`),
        ),
        way(
          2,
          'delete it, when it is meant to go with its owner',
          `nothing; ${cause.object.kind} ${cause.object.name} is gone then`,
          kubectl('delete', `${typeOf(cause.object)}/${cause.object.name}`),
        ),
      ]
    case 'namespace-terminating':
      return [
        way(1, 'do by hand what the controller would have done, then take its finalizer off', 'what you forget to do'),
      ]
    case 'owner-cycle':
      return blockingIn(cause.objects, path)
        .slice(-1)
        .map((object) =>
          way(
            2,
            'take blockOwnerDeletion off one of the references: the garbage collector goes on from there',
            NOTHING,
            kubectl('edit', `${typeOf(object)}/${object.name}`, ...inNamespace(object.namespace)),
          ),
        )
    case 'in-use':
      return cause.isDeleted
        ? []
        : [
            way(
              1,
              'delete what uses it first, when it is no longer needed',
              `nothing; ${cause.by.kind} ${cause.by.name} is gone then`,
              kubectl('delete', `${typeOf(cause.by)}/${cause.by.name}`, ...inNamespace(cause.by.namespace)),
            ),
          ]
    case 'driver-missing':
      return [way(1, `run the node plugin of ${cause.driver} on node ${cause.node} again`, NOTHING)]
    case 'volume-missing':
      return [
        way(
          1,
          `make persistentvolumes/${cause.volume} again with the same volumeHandle, so that the driver can detach it`,
          'the PersistentVolume, to be deleted afterwards',
        ),
      ]
    case 'silent-node':
      return [
        way(1, `bring node ${cause.node} back: start its machine or its kubelet`, NOTHING),
        way(
          3,
          `when its machine is surely off, taint it as out of service: pods are removed and volumes detached`,
          'processes and mounts, if it still runs: data can be written twice',
          kubectl('taint', 'nodes', cause.node, 'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute'),
        ),
        way(
          4,
          `when it never comes back, delete the Node: its pods are removed with it`,
          'processes that still run on the machine',
          kubectl('delete', 'node', cause.node),
        ),
      ]
    case 'missing-node':
      return [
        way(
          1,
          `let the controllers run that clean up after node ${cause.node}, or make sure in the storage system that nothing is attached to it`,
          NOTHING,
        ),
      ]
    case 'kubelet-failing':
      return [
        way(1, `mend it on node ${cause.node}: ${KUBELET_HELP[cause.what]}`, NOTHING),
        way(2, `restart the machine of node ${cause.node}`, 'nothing; all its pods are interrupted'),
      ]
    case 'api-unavailable':
      return [
        way(1, `let the server behind ${cause.apiService} run again`, NOTHING),
        way(
          3,
          'when it was uninstalled, delete its APIService',
          'objects that the aggregated API holds in its own store',
          kubectl('delete', 'apiservice', cause.apiService),
        ),
      ]
    case 'conversion-webhook':
      return [
        way(1, `let the conversion webhook of ${cause.definition} run again`, NOTHING),
        way(
          4,
          `set spec.conversion.strategy of the definition to None, so that objects can be read unconverted`,
          'objects in other versions lose what conversion would have carried over',
          kubectl(
            'patch',
            'crd',
            cause.definition,
            '--type=merge',
            '-p',
            '{"spec":{"conversion":{"strategy":"None","webhook":null}}}',
          ),
        ),
      ]
    case 'admission-refuses': {
      const isDelete = cause.operation === 'DELETE'
      if (cause.by === 'server')
        return [
          isDelete
            ? way(1, 'mend what the API server says of the delete', NOTHING)
            : way(1, 'mend the object so that the API server accepts an update of it', NOTHING),
        ]
      if (cause.by === 'policy')
        return [
          way(
            2,
            isDelete
              ? `when it is meant to go, let ValidatingAdmissionPolicy ${cause.name} or its binding leave it out`
              : `let ValidatingAdmissionPolicy ${cause.name} leave out what is being deleted (object.metadata.deletionTimestamp)`,
            NOTHING,
            kubectl('edit', 'validatingadmissionpolicy', cause.name),
          ),
        ]
      return [
        way(
          1,
          `let the server of webhook ${cause.name} run again, or let it accept ${isDelete ? 'the delete' : cause.operation.startsWith('UPDATE') ? 'updates of what is being deleted' : `the ${cause.operation}`}`,
          NOTHING,
        ),
        ...(cause.configuration === undefined || cause.isElsewhere === true
          ? []
          : [
              way(
                3,
                'when it was uninstalled, delete its configuration',
                'requests that it would have judged are no longer judged',
                kubectl(
                  'delete',
                  'validatingwebhookconfiguration,mutatingwebhookconfiguration',
                  cause.configuration,
                  '--ignore-not-found',
                ),
              ),
            ]),
      ]
    }
    case 'put-back':
      return [way(1, 'let what puts the finalizer back leave out what is being deleted', NOTHING)]
    case 'budget':
      return [
        way(
          1,
          'make more pods ready (scale up, mend those that are not), so that the budget allows a disruption',
          NOTHING,
        ),
        way(
          2,
          'change the budget',
          'less protection',
          kubectl('edit', 'poddisruptionbudget', cause.budget.name, ...inNamespace(cause.budget.namespace)),
        ),
        way(
          3,
          'delete the pod: a delete does not ask the budget',
          'an application with fewer pods than it wants',
          kubectl('delete', 'pod', cause.pod.name, ...inNamespace(cause.pod.namespace)),
        ),
      ]
    case 'unreadable':
      return cause.isDecryption
        ? [
            way(1, 'put the lost key back into the EncryptionConfiguration of every API server', NOTHING),
            way(
              5,
              'from v1.32 on, delete it unread (AllowUnsafeMalformedObjectDeletion): finalizers and owners are not heard',
              'all that its finalizers stand for',
            ),
          ]
        : [way(1, 'mend what the API server says', NOTHING)]
    case 'unseen':
      return [way(0, 'ask again as someone who may see it', NOTHING)]
  }
}

/** Those of a cycle that name another of it as their owner, with blockOwnerDeletion. */
function blockingIn([first]: readonly ObjectRef[], path: readonly Link[]): readonly ObjectRef[] {
  const from = path.findIndex(({ cause }) => cause.kind === 'marked' && cause.object.uid === first?.uid)
  return path.slice(from).flatMap(({ cause }) => (cause.kind === 'blocking-dependent' ? [cause.dependent] : []))
}

const KUBELET_HELP = {
  container: 'end the process by hand (a process in state D waits for a disk or a network file system)',
  sandbox: 'see why the network plugin fails to take the network down',
  volume: 'end what still has files open on the volume (lsof, fuser)',
  runtime: 'restart the container runtime, end the shim that is left',
  other: "read the kubelet's log",
} as const

function finalizerOff(object: ObjectRef, finalizer: string, inSpec: boolean): Rated {
  const { namespace, name, resource } = object
  if (inSpec && finalizer === 'kubernetes')
    return way(
      5,
      'last of all, and better not: finalize the namespace by hand',
      'all its content stays in the store without a namespace, and comes back with one of that name',
    )
  const leaves = inSpec ? LEAVES_UNKNOWN : (knownFinalizer(finalizer, resource)?.leaves ?? LEAVES_UNKNOWN)
  const target = [`${typeOf(object)}/${name}`, ...inNamespace(namespace)]
  const without = `del(.${inSpec ? 'spec' : 'metadata'}.finalizers[] | select(. == ${JSON.stringify(finalizer)}))`
  const replace = inSpec ? ['--raw', `/api/v1/namespaces/${encodeURIComponent(name)}/finalize`] : []
  return way(
    4,
    `take ${finalizer} off by hand`,
    leaves,
    `${kubectl('get', ...target, '-o', 'json')} | jq ${shellWord(without)} | ${kubectl('replace', ...replace, '-f', '-')}`,
  )
}
