/**
 * The controller that takes a finalizer away, and its state. One that is known by name is looked for by the names of its workloads; another
 * by the manager that set it, by roles that name the object's group, by webhooks of that group, and at last by the words of its name.
 */
import type { CustomResourceDefinition, Lease, Service } from '../../api/generated/types.ts'
import type { KubeObject, ManagedFieldsEntry } from '../../api/object.ts'
import { COMMON_WORD } from './common-words.ts'
import { componentLink } from './components.ts'
import { conditionSays, eventSays, isKubernetes } from './failures.ts'
import { type FinalizerOwner, type Link, lastLink, type ObjectRef } from './finding.ts'
import { type KnownFinalizer, meantFor } from './known-finalizers.ts'
import { wordInLog } from './logs.ts'
import { DEFINITIONS, deletedAt, foundOf, itemsOf, kubectlName, LEASES, type Look, SERVICES, timeOf } from './look.ts'
import { accountIn, type PastUser, pastUsers } from './past-users.ts'
import {
  type Account,
  type Accounts,
  accountsOfDomain,
  accountsOfGroup,
  isGranted,
  servesOtherGroups,
} from './roles.ts'
import { webhooksOfGroup } from './webhooks.ts'
import { controllerInWorkload, readOtherPods, readWorkloads, type Workload, whyNotRunning } from './workloads.ts'

/** The manager of the finalizer's field, and when it last wrote the object. */
export function setterOf(object: KubeObject, finalizer: string): ManagedFieldsEntry | undefined {
  return object.metadata.managedFields?.find(({ fieldsV1 }) => {
    const metadata = fieldsV1?.['f:metadata'] as { readonly 'f:finalizers'?: object } | undefined
    return Object.hasOwn(metadata?.['f:finalizers'] ?? {}, `v:${JSON.stringify(finalizer)}`)
  })
}

/** What many programs call themselves says nothing about one of them; and a user's tool is no controller. */
const NO_CONTROLLER =
  /^(manager|controller|operator|main|app|server|node|unknown|python-requests|curl|go-http-client|openapi-generator|node-fetch|kubectl.*|helm|before-first-apply|mozilla|k9s|lens|skiff.*|kube-controller-manager|kube-apiserver|kube-scheduler|kubelet)$/i

export async function controllerLinks(
  look: Look,
  ref: ObjectRef,
  object: KubeObject,
  finalizer: string,
  known: KnownFinalizer | undefined,
): Promise<readonly Link[]> {
  const on = kubectlName(ref)
  if (known !== undefined && known.runsIn === 'cloud-controller-manager') {
    const [component, workloads] = await Promise.all([
      componentLink(look, known.runsIn, known.controller, on),
      workloadLinks(look, ref, object, finalizer, ['cloud-controller-manager', 'cloud-provider'], []),
    ])
    return 'verdict' in component && component.verdict === 'nobody' && workloads.length > 0 ? workloads : [component]
  }
  if (known !== undefined && typeof known.runsIn === 'string')
    return [await componentLink(look, known.runsIn, known.controller, on)]
  const patterns = typeof known?.runsIn === 'object' ? known.runsIn : []
  const past = known === undefined ? await pastUsers(look, ref, finalizer) : []
  const found = await workloadLinks(look, ref, object, finalizer, patterns, past, known?.isGuest)
  if (found.length > 0) return found
  const life = signOfLife(object) ?? (known?.isGuest === true ? undefined : await leaseOf(look, finalizer, ref))
  if (life !== undefined) return [lastLink('slow', { kind: 'controller-at-work', controller: life, on }, true)]
  const { unseen } = await readWorkloads(look)
  if (unseen !== '')
    return [lastLink('slow', { kind: 'unseen', what: `who takes ${finalizer} away`, why: unseen }, true)]
  return [
    lastLink(
      'nobody',
      {
        kind: 'controller-missing',
        finalizer,
        controller: known?.controller ?? settingController(object, finalizer, past),
        looked: [...lookedFor(ref, object, finalizer, patterns, known?.isGuest), ...pastWords(past)],
      },
      true,
    ),
  ]
}

/** The manager or user that set a finalizer, where it is no user's tool: `''` otherwise. */
function settingController(object: KubeObject, finalizer: string, past: readonly PastUser[]): string {
  const { manager = '' } = setterOf(object, finalizer) ?? {}
  if (!NO_CONTROLLER.test(manager)) return manager
  const account = past.flatMap(({ user, did }) => (did === 'added it' ? (accountIn(user) ?? []) : []))[0]
  return account === undefined ? '' : `service account ${account}`
}

const pastWords = (past: readonly PastUser[]): string[] =>
  [...new Set(past.map(({ user, did }) => `a workload of ${user}, which ${did}`))].slice(0, 3)

function lookedFor(
  ref: ObjectRef,
  object: KubeObject,
  finalizer: string,
  patterns: readonly string[],
  isKnownGuest = false,
): string[] {
  const manager = setterOf(object, finalizer)?.manager
  const elsewhere = meantFor(finalizer, ref.resource)
  return [
    ...(manager === undefined ? [] : [`a workload of ${manager}, which set it`]),
    ...(patterns.length > 0 ? [`workloads named like ${patterns.join(', ')}`] : []),
    ...(isKubernetes(ref.group) || isKnownGuest || isOfOthers(finalizer, ref)
      ? []
      : [`workloads whose account may write ${ref.resource}.${ref.group}`]),
    ...(isKnownGuest ? [] : [`workloads and webhooks named like ${wordsOf(finalizer, ref).join(', ') || finalizer}`]),
    'a lease that is held by a name like those',
    `a write, since it was deleted, by anything that is no user's tool`,
    ...(elsewhere.length === 0 ? [] : [`Kubernetes takes it off ${elsewhere.join(', ')} alone`]),
  ]
}

interface Candidate {
  readonly workload: Workload
  readonly evidence: string
  /** Only its name suggests that it is the controller. */
  readonly isNamed: boolean
  /**
   * How sure it is that this is the controller. 4: it set the finalizer, or of a family it is the one named like the object's group. 3: a
   * write of it was seen, or it is known by name. 2: its rules or webhooks suggest it. 1: its name
   * is alike, or that of a group that it has a role for.
   */
  readonly strength: number
}

async function workloadLinks(
  look: Look,
  ref: ObjectRef,
  object: KubeObject,
  finalizer: string,
  patterns: readonly string[],
  past: readonly PastUser[],
  isKnownGuest = false,
): Promise<readonly Link[]> {
  // What may write the object says nothing of a finalizer that other software has put there.
  const isGuest = isKnownGuest || (patterns.length === 0 && isOfOthers(finalizer, ref))
  // Of a finalizer of other software, and on objects of Kubernetes, the group that its name begins with tells whose it is.
  const [domain = ''] = finalizer.split('/')
  const accountsFor = (everywhere: boolean) =>
    isGuest || isKubernetes(ref.group)
      ? accountsOfDomain(look.reader, isKnownGuest ? '' : domain, ref.namespace, everywhere)
      : accountsOfGroup(look.reader, ref, everywhere)
  const [{ all }, accounts, webhooks] = await Promise.all([
    readWorkloads(look),
    accountsFor(false),
    isGuest ? new Set<string>() : workloadsOfWebhooks(look, ref),
  ])
  const managers = new Set(
    (object.metadata.managedFields ?? [])
      .map(({ manager = '' }) => manager.toLowerCase())
      .concat(past.map(({ program }) => program.toLowerCase()))
      .filter((manager) => manager !== '' && !NO_CONTROLLER.test(manager)),
  )
  const words = isKnownGuest ? [] : [...wordsOf(finalizer, ref), ...namesOfOperators(object, finalizer)]
  const setter = setterOf(object, finalizer)?.manager?.toLowerCase() ?? ''
  const users = new Map(past.flatMap(({ user, did }) => [[accountIn(user) ?? '', did] as const]))
  const traits = { ref, patterns, managers, setter, accounts, webhooks, words, users }
  const among = (workloads: readonly Workload[], of: Traits) =>
    workloads.flatMap((workload): Candidate[] => {
      const evidence = evidenceFor(workload, of)
      return evidence === undefined ? [] : [{ workload, ...evidence }]
    })
  let likely = among(all, traits)
  if (likely.length === 0) {
    // One that serves other namespaces alone, or runs in pods of its own.
    const wide = await accountsFor(true)
    const spaces = new Set([...wide.keys(), ...users.keys()].map((account) => account.split('/')[0] ?? ''))
    if (patterns.length > 0 || managers.size > 0) spaces.add('kube-system')
    spaces.delete('')
    const pods = await readOtherPods(look, [...spaces].slice(0, MOST_NAMESPACES))
    likely = among([...all, ...pods], { ...traits, accounts: wide })
  }
  // Programs of one family are named alike, and each has roles for its own kinds.
  const isOther = await Promise.all(
    likely.map(async ({ workload, isNamed, strength }) => {
      if (!isNamed || isKubernetes(ref.group)) return false
      const account = accountOf(workload)
      // What asks the API server has an account of its own, or a role for the one that all have.
      const isPlain = strength === 1 && (workload.account === 'default' || SIDE_PART.test(workload.name))
      if (isPlain && (await isGranted(look.reader, account, ref)) === false) return true
      return servesOtherGroups(look.reader, account, ref)
    }),
  )
  const candidates = withoutSides(likely.filter((_, at) => isOther[at] !== true))
  const best = Math.max(0, ...candidates.map(({ strength }) => strength))
  const chosen = candidates.filter(({ strength }) => strength === best)
  const states = await Promise.all(chosen.slice(0, 4).map((candidate) => workloadState(look, ref, object, candidate)))
  // One of them that is well does it: others named alike are parts of the same software.
  const well = states.filter((link) => 'verdict' in link && link.verdict === 'slow')
  if (well.length > 0) return well.slice(0, 1)
  // Of several of the same software, one for other namespaces says nothing of that for this one.
  const here = states.filter(({ cause }) => cause.kind !== 'controller-elsewhere')
  return [...here, ...states].slice(0, 1)
}

/** A word in the name of what is beside a controller, though it may be called a manager (`cnrm-webhook-manager`). */
const SIDE_PART =
  /(^|[-._])(webhooks?|admission|ui|dashboard|console|metrics|exporter|cainjector|stats|recorder)(?=$|[-._])/i

/** What software has beside its controller: servers of webhooks, pages, metrics. */
const SIDE =
  /(^|[-._])(webhooks?|admission|ui|dashboard|console|frontend|metrics|exporter|cainjector|apiserver)(?=$|[-._])(?!.*(controller|operator|manager))/i

/** Those that are no controllers by their names, where there are others; but not what was seen to write the object. */
function withoutSides(candidates: readonly Candidate[]): readonly Candidate[] {
  const main = candidates.filter(({ workload, isNamed }) => !isNamed || !SIDE.test(workload.name))
  return main.length > 0 ? main : candidates
}

/** So many are looked through for pods without a workload. */
const MOST_NAMESPACES = 5

interface Traits {
  readonly ref: ObjectRef
  readonly patterns: readonly string[]
  readonly managers: ReadonlySet<string>
  /** The manager that set the finalizer, one of those or none. */
  readonly setter: string
  /** `namespace/name` of service accounts, each with why. */
  readonly accounts: Accounts
  /** `namespace/name` of workloads. */
  readonly webhooks: ReadonlySet<string>
  readonly words: readonly string[]
  /** `namespace/name` of service accounts that have written it, and what they did. */
  readonly users: ReadonlyMap<string, PastUser['did']>
}

function evidenceFor(
  workload: Workload,
  { ref, patterns, managers, setter, accounts, webhooks, words, users }: Traits,
): Omit<Candidate, 'workload'> | undefined {
  const { namespace, name, images, programs, labels } = workload
  const texts = [name, ...images.map((image) => image.replace(/[:@].*$/, '')), ...programs]
  const parts = ['app.kubernetes.io/name', 'app.kubernetes.io/part-of', 'app', 'k8s-app'].map(
    (key) => labels[key] ?? '',
  )
  const names = [...texts, ...parts].map((text) => text.toLowerCase())
  const manager = [setter, ...managers].find((one) => managers.has(one) && names.includes(one))
  if (manager !== undefined)
    return {
      evidence: `${manager} ${manager === setter ? 'set the finalizer' : 'wrote the object'}, and it runs that`,
      isNamed: false,
      strength: manager === setter ? 4 : 3,
    }
  const did = users.get(`${namespace}/${workload.account}`)
  if (did !== undefined)
    return { evidence: `its account ${namespace}/${workload.account} ${did}`, isNamed: false, strength: 3 }
  const pattern = patterns.find((one) => names.some((text) => text.includes(one)))
  if (pattern !== undefined)
    return { evidence: `it is named like ${pattern}`, isNamed: true, strength: isOfGroup(name, ref.group) ? 4 : 3 }
  const granted = accounts.get(`${namespace}/${workload.account}`)
  if (granted?.isAlike === false) return { evidence: granted.evidence, isNamed: false, strength: 2 }
  if (webhooks.has(`${namespace}/${name}`))
    return { evidence: "it serves webhooks of the object's group", isNamed: false, strength: 2 }
  if (granted !== undefined) return { evidence: granted.evidence, isNamed: false, strength: 1 }
  const segments = new Set([...names, namespace.toLowerCase()].flatMap((text) => text.split(/[-._/]/)))
  // A short word says something only where it stands alone.
  const word = words.find((one) =>
    one.length < LONG_WORD ? segments.has(one) : [...names, namespace.toLowerCase()].some((text) => text.includes(one)),
  )
  // A domain often has more than the program's name: harvesterhci.io of harvester.
  const own = [name, ...images.map(repositoryIn)].flatMap((text) => text.toLowerCase().split(/[-._/]/))
  const stem = words.find((one) => own.some((part) => isStemOf(part, one)))
  const alike = word ?? stem
  return alike === undefined ? undefined : { evidence: `it is named like ${alike}`, isNamed: true, strength: 1 }
}

const LONG_STEM = 7
/** What domains have behind a program's name. A plural is another word. */
const DOMAIN_REST =
  /^-?(ai|app|apps|cd|cloud|data|db|dev|hci|hq|inc|io|js|labs?|mesh|net|ops|org|platform|projects?|sh|soft|software|stack|systems?|team|tech|works)$/
const isStemOf = (part: string, word: string): boolean =>
  part.length >= LONG_STEM &&
  word.startsWith(part) &&
  !COMMON_WORD.test(part) &&
  DOMAIN_REST.test(word.slice(part.length))

/** Of an image, without its registry, tag and digest. */
const repositoryIn = (image: string): string =>
  image.replace(/^(localhost|[^/]*[.:][^/]*)\//, '').replace(/[:@].*$/, '')

/** Programs of one family serve groups of their own: `kustomize-controller` that of `kustomize.toolkit.fluxcd.io`. */
function isOfGroup(name: string, group: string): boolean {
  const first = group.split('.')[0] ?? ''
  return first.length >= LONG_WORD && !COMMON_WORD.test(first) && name.toLowerCase().split(/[-._]/).includes(first)
}

const LONG_WORD = 4

/** Finalizers that a framework gives to all operators that are made with it. */
const OF_FRAMEWORKS = /operatorframework\.io|kopf|metacontroller/

/** Whether a finalizer's name has nothing to do with the object's group and kind, which are not Kubernetes' own. */
function isOfOthers(finalizer: string, { group, kind }: ObjectRef): boolean {
  if (isKubernetes(group) || OF_FRAMEWORKS.test(finalizer)) return false
  const plain = (text: string) => text.toLowerCase().replaceAll('-', '')
  const own = [...group.split('.').slice(0, -1), kind]
    .map(plain)
    .filter((word) => word.length >= 3 && !COMMON_WORD.test(word))
  const [domain = '', rest = ''] = finalizer.includes('/') ? finalizer.split('/') : [finalizer]
  // Without a domain it says nothing of others either.
  if (!domain.includes('.')) return false
  if (domain === group || domain.endsWith(`.${group}`) || group.endsWith(`.${domain}`)) return false
  const words = [...domain.split('.').slice(0, -1), ...rest.split(/[._]/)].map(plain)
  return !words.some((word) =>
    own.some((one) => word.includes(one) || (word.length >= 4 && one.includes(word) && !COMMON_WORD.test(word))),
  )
}

/** Words of a finalizer's name, and of its object's kind, that tell which software it is of. */
export function wordsOf(finalizer: string, ref: ObjectRef): string[] {
  const { group, kind } = ref
  const isBuiltin = isKubernetes(group) || isOfOthers(finalizer, ref)
  const domains = [finalizer.split('/')[0] ?? '', ...(isBuiltin ? [] : [group])].filter((text) => text.includes('.'))
  const rest = finalizer.includes('/')
    ? finalizer.slice(finalizer.indexOf('/') + 1)
    : domains.length > 0
      ? ''
      : finalizer
  const words = [...domains.flatMap((domain) => domain.split('.').slice(0, -1)), rest, ...(isBuiltin ? [] : [kind])]
  return [
    ...new Set(words.map((word) => word.toLowerCase()).filter((word) => word.length >= 3 && !COMMON_WORD.test(word))),
  ]
}

/** An operator that is made with kopf may keep what it knows of an object in annotations of `NAME.kopf.dev`. */
function namesOfOperators({ metadata }: KubeObject, finalizer: string): string[] {
  if (!OF_FRAMEWORKS.test(finalizer)) return []
  const names = Object.keys(metadata.annotations ?? {}).map((key) => /^([a-z0-9-]+)\.kopf\.dev\//.exec(key)?.[1])
  return [...new Set(names.filter((name) => name !== undefined))]
}

async function workloadState(
  look: Look,
  ref: ObjectRef,
  object: KubeObject,
  { workload, evidence, strength }: Candidate,
): Promise<Link> {
  const controller = controllerInWorkload(workload, evidence)
  const stopped = await whyNotRunning(look, workload, controller, isKubernetes(ref.group) ? '' : ref.group)
  if (stopped !== undefined) return stopped
  const { serves } = workload
  if (serves !== undefined && ref.namespace !== '' && !serves.namespaces.includes(ref.namespace)) {
    const { namespace } = ref
    const cause = {
      kind: 'controller-elsewhere',
      controller,
      namespace,
      serves: serves.namespaces,
      by: serves.by,
    } as const
    return lastLink('nobody', cause, true)
  }
  const forbidden = await notAllowed(look, ref, workload, controller)
  if (forbidden !== undefined) return forbidden
  const word = await wordInLog(look, ref, object, workload, controller)
  if (word?.failure !== undefined) return word.failure
  const says = conditionSays(ref, object) ?? word?.says ?? (await eventSays(look, ref, object))
  const cause = {
    kind: 'controller-at-work',
    controller,
    on: kubectlName(ref),
    ...(says === undefined ? {} : { says }),
  } as const
  return lastLink('slow', cause, strength < 3)
}

function accountOf({ namespace, account }: Workload): Account {
  return {
    user: `system:serviceaccount:${namespace}:${account}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    account: { namespace, name: account },
  }
}

/** To take a finalizer away is to write the object: by update or by patch. */
async function notAllowed(
  { reader, dryRun }: Look,
  ref: ObjectRef,
  workload: Workload,
  controller: FinalizerOwner,
): Promise<Link | undefined> {
  const { namespace, account } = workload
  const asWhom = accountOf(workload)
  const { user, groups } = asWhom
  const { group, resource, name } = ref
  // A review is a write verb, if one that is sent as a dry run.
  const verbs = dryRun ? ['update', 'patch'] : []
  const answers = await Promise.all(
    verbs.map((verb) => reader.mayDo({ user, groups, verb, group, resource, namespace: ref.namespace, name })),
  )
  const isAsked = dryRun && answers.every(({ state }) => state === 'found')
  const mayWrite = isAsked
    ? answers.some((answer) => answer.state === 'found' && answer.value)
    : await isGranted(reader, asWhom, ref)
  if (mayWrite !== false) return undefined
  const cause = {
    kind: 'controller-forbidden',
    controller,
    account: `${namespace}/${account}`,
    verb: 'update or patch',
    resource: group === '' ? resource : `${resource}.${group}`,
  } as const
  return lastLink('refused', cause, !isAsked)
}

/** Workloads whose pods are behind a webhook's Service of the object's group: its definition's conversion, or admission. */
async function workloadsOfWebhooks(look: Look, { group, resource }: ObjectRef): Promise<ReadonlySet<string>> {
  const { reader } = look
  const found = new Set<string>()
  if (isKubernetes(group)) return found
  const definition = foundOf(await reader.get<CustomResourceDefinition>(DEFINITIONS, '', `${resource}.${group}`))
  const conversion = definition?.spec.conversion?.webhook?.clientConfig?.service
  const services = [...(conversion === undefined ? [] : [conversion]), ...(await webhooksOfGroup(look, group))]
  const { all } = await readWorkloads(look)
  for (const { namespace, name } of services) {
    const service = foundOf(await reader.get<Service>(SERVICES, namespace, name))
    const selector = service?.spec?.selector
    if (selector === undefined || Object.keys(selector).length === 0) continue
    for (const workload of all) {
      const isSelected = Object.entries(selector).every(([key, value]) => workload.podLabels[key] === value)
      if (workload.namespace === namespace && isSelected) found.add(`${namespace}/${workload.name}`)
    }
  }
  return found
}

/**
 * Something that is no user's tool has written the object since it was deleted: a controller outside of the cluster. Times are whole
 * seconds: what was written in the second of the deletion may have been written before it.
 */
function signOfLife(object: KubeObject): FinalizerOwner | undefined {
  const since = deletedAt(object.metadata)
  const writer = object.metadata.managedFields
    ?.filter(({ manager = '', time }) => !NO_CONTROLLER.test(manager) && timeOf(time) > since)
    .toSorted((a, b) => timeOf(a.time) - timeOf(b.time))
    .at(-1)
  if (writer === undefined) return undefined
  return {
    name: writer.manager ?? '',
    as: 'outside',
    evidence: `it wrote the object at ${writer.time}, after it was deleted; no workload of the cluster is it`,
  }
}

/** A lease that is held now, of a holder named like the finalizer or its kind: a controller outside of the cluster too. */
async function leaseOf(look: Look, finalizer: string, ref: ObjectRef): Promise<FinalizerOwner | undefined> {
  const words = wordsOf(finalizer, ref)
  if (words.length === 0) return undefined
  const leases = itemsOf(await look.reader.list<Lease>(LEASES))
  const held = leases.find(({ metadata, spec }) => {
    const due = timeOf(spec?.renewTime) + 2 * (spec?.leaseDurationSeconds ?? 15) * 1000
    const segments = new Set(`${metadata.name} ${spec?.holderIdentity ?? ''}`.toLowerCase().split(/[-._/ ]/))
    return metadata.namespace !== 'kube-node-lease' && look.now <= due && words.some((word) => segments.has(word))
  })
  if (held === undefined) return undefined
  const lease = `${held.metadata.namespace}/${held.metadata.name}`
  return {
    name: held.spec?.holderIdentity ?? lease,
    as: 'outside',
    evidence: `it renewed the lease ${lease} at ${held.spec?.renewTime}`,
  }
}
