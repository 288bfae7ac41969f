/** Objects that a controller's words name: what it needs and is not there, and what it waits for and nothing deletes. */
import type { KubeObject, SpecAndStatus } from '../../api/object.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import { isKubernetes, unnamedController } from './failures.ts'
import { type Link, lastLink, type ObjectRef } from './finding.ts'
import { itemsOf, KEPT, kubectlName, type Look, MOST_ALIKE } from './look.ts'
import { isNamedIn, kindsOfSoftware, usedBy } from './users.ts'
import type { Examine } from './what-holds-an-object.ts'
import { hasWord, isNameIn, isToldWithoutName, wordsAndNames } from './whole-words.ts'

/** `Secret "a" not found`, `secrets "a" not found`, `SecretStore.external-secrets.io "a" not found`. */
const NOT_FOUND =
  /(?<![A-Za-z0-9])([A-Za-z][A-Za-z0-9]{0,62})(?:\.([a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}))?[ /:]{1,3}["'`]([a-z0-9][a-z0-9.-]{0,252})["'`] (?:was )?not found/g

/** `project team-a which does not exist`; only in a complaint, for of what is on its way down it may be good news. */
const DOES_NOT_EXIST =
  /(?<![A-Za-z0-9.-])([A-Za-z][A-Za-z0-9]{1,62})(?:\.([a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}))?([ /:]{1,3}["'`]?)([a-z0-9][a-z0-9.-]{0,252})["'`]?,? (?:(?:which|that) )?(?:does not|doesn't|no longer) exists?\b/g
/** `no matches for kind "Certificate" in version "cert-manager.io/v1"`: what client libraries say of kinds that are not served. */
const NO_KIND = /no matches for kind "([A-Za-z][A-Za-z0-9]{0,62})" in version "([a-z0-9.-]{1,253}\/v[a-z0-9]{1,15})"/g

/**
 * What words say was not found, and is in fact nowhere where it could be meant.
 *
 * @param complaints those of the words that tell of a failure
 */
export async function needsNamedMissing(
  look: Look,
  ref: ObjectRef,
  object: SpecAndStatus,
  words: string,
  complaints: string,
): Promise<readonly Link[]> {
  const links: Link[] = [...kindsMissing(look, ref, complaints)]
  const quoted = [...words.matchAll(NOT_FOUND)].map(([whole, kind = '', group, name = '']) => {
    return { whole, resource: kindNamed(look, ref, kind, group), name }
  })
  const told = [...quoted, ...saidNotToExist(look, ref, object, complaints)].flatMap(({ whole, resource, name }) =>
    resource?.verbs.includes('list') === true && name !== ref.name ? [{ whole, resource, name }] : [],
  )
  for (const { whole, resource, name } of told.slice(0, MOST_ALIKE)) {
    // The words seldom tell the namespace.
    const read = await look.reader.list(resource, { fieldSelector: `metadata.name=${name}`, metadataOnly: true })
    if (read.state !== 'found' || read.value.length > 0) continue
    const said = words.split('\n').find((line) => line.includes(whole)) ?? whole
    const cause = {
      kind: 'needs-missing',
      controller: unnamedController(ref),
      what: `${resource.resource}/${name}`,
      named: `its controller says: ${said}`,
    } as const
    links.push(lastLink('nobody', cause, true))
  }
  return links
}

/** What stands before words of a database or of a cloud, whose roles, users and namespaces are no objects. */
const OF_OTHERS_BEFORE = /\bpq: |(?<![A-Za-z0-9])arn:\S*$/
/** And after them: `on the target cluster`, `(SQLSTATE 42704)`. */
const OF_OTHERS_AFTER = /^ (in|on|at) ((the|a|its) )?(\S+ )?(target|remote)\b|\(SQLSTATE /

/** Of the object's own group, or named by its spec: words alone are often of what is no object. */
function saidNotToExist(look: Look, ref: ObjectRef, { spec }: SpecAndStatus, complaints: string) {
  return complaints.split('\n').flatMap((line) =>
    [...line.matchAll(DOES_NOT_EXIST)].flatMap((found) => {
      const [whole, word = '', group, between = '', name = ''] = found
      const after = line.slice(found.index + whole.length)
      if (OF_OTHERS_BEFORE.test(line.slice(0, found.index)) || OF_OTHERS_AFTER.test(after)) return []
      if (!isNameIn(between, name)) return []
      const isInSpec = hasValue(spec, name)
      // `service account`, `secret version`: two words.
      if (!isInSpec && /^[a-z]+$/.test(name) && between.trim() === '') return []
      if (namesKind(look, word + name)) return []
      const own = kindOfGroup(look, ref.group, word)
      const resource =
        own !== undefined && (group === undefined || group === ref.group)
          ? own
          : isInSpec
            ? kindOutside(look, word, group)
            : undefined
      return [{ whole, resource, name }]
    }),
  )
}

const namesKind = ({ kinds }: Look, word: string): boolean =>
  kinds.resources.some((one) => isKindOf(one, word.toLowerCase()))

const isKindOf = ({ kind, resource }: NamedResource, plain: string): boolean =>
  kind.toLowerCase() === plain || resource === plain

/** By the whole of its name before the last word of it. */
function kindOfGroup({ kinds }: Look, group: string, word: string): NamedResource | undefined {
  const plain = word.toLowerCase()
  const own = kinds.resources.filter((one) => one.group === group)
  return own.find((one) => isKindOf(one, plain)) ?? own.find(({ kind }) => lastWordOf(kind).toLowerCase() === plain)
}

/** A kind of the core, or of the one software that has it. Kinds of Kubernetes' other groups (Role) are words of much else. */
function kindOutside(look: Look, word: string, group: string | undefined): NamedResource | undefined {
  const alike = look.kinds.resources.filter(
    (one) => isKindOf(one, word.toLowerCase()) && (group === undefined || one.group === group),
  )
  const others = group === undefined ? alike.filter((one) => !isKubernetes(one.group)) : alike
  return alike.find((one) => one.group === '') ?? (others.length === 1 ? others[0] : undefined)
}

/** Whether a field of it is that name, alone or behind its namespace. */
function hasValue(value: unknown, name: string, deep = 0): boolean {
  if (typeof value === 'string') return value === name || value.endsWith(`/${name}`)
  if (deep > 8 || typeof value !== 'object' || value === null) return false
  return Object.values(value).some((inner) => hasValue(inner, name, deep + 1))
}

/** Not those of Kubernetes itself: no definition brings them back. */
function kindsMissing({ kinds }: Look, ref: ObjectRef, complaints: string): readonly Link[] {
  const told = [...complaints.matchAll(NO_KIND)].filter(([, kind, version = '']) => {
    const group = version.slice(0, version.indexOf('/'))
    return !isKubernetes(group) && !kinds.resources.some((one) => one.kind === kind && one.group === group)
  })
  return told.slice(0, MOST_ALIKE).map(([whole, kind, version]) => {
    const what = `kind ${kind} (${version})`
    const named = `its controller says: ${whole}`
    return lastLink('nobody', { kind: 'needs-missing', controller: unnamedController(ref), what, named }, true)
  })
}

const lastWordOf = (kind: string): string => /[A-Z][a-z]+$/.exec(kind)?.[0] ?? ''

function kindNamed(look: Look, ref: ObjectRef, word: string, group: string | undefined): NamedResource | undefined {
  const plain = word.toLowerCase()
  const alike = look.kinds.resources.filter(
    (one) => isKindOf(one, plain) && (group === undefined || one.group === group),
  )
  return (
    alike.find((one) => one.group === ref.group) ??
    alike.find((one) => one.group === '') ??
    alike[0] ??
    kindOfGroup(look, ref.group, word)
  )
}

const WAITS =
  /wait|block|until|remain|dependen|depend|still|in[- ]use|being used|exist|please delete|(must|to|needs? to|should) be (deleted|removed)|not empty|referenc/i
/** Words that leave no doubt: what names the object may be meant. */
const SURELY_WAITS =
  /wait(ing|s)? (for|on|until) .{0,300}(delet|remov|gone|terminat|finaliz)|until .{0,300}(delet|remov|gone)|dependen|in[- ]use|being used|still (used|referenced|exists?|has|have|in)|\bexisting\b|referenced by|please delete|(must|needs? to|should) be (deleted|removed) (first|before)/i

/** Words that something else uses the object, whatever it is. */
const IN_USE = /dependen|in[- ]use|being used|still (used|referenced)|referenced by/i

/**
 * Objects of the same software that words name, or, where they say only of which sort, that name this object: where the words are of
 * waiting, they are what is waited for.
 */
export async function namedAsWaitedFor(
  look: Look,
  ref: ObjectRef,
  words: string,
  examine: Examine,
): Promise<readonly Link[]> {
  if (!WAITS.test(words)) return []
  const kinds = kindsOfSoftware(look, ref)
  if (kinds.length + KEPT > look.reader.left) return []
  const isSure = SURELY_WAITS.test(words)
  const named: [NamedResource, KubeObject][] = []
  const naming: [NamedResource, KubeObject, isMeant: boolean][] = []
  for (const resource of kinds) {
    const isTold = tellsOf(words, resource)
    const isMeant = isTold || tellsLastWordOf(words, resource)
    const all = itemsOf(await look.reader.list(resource, { namespace: resource.namespaced ? ref.namespace : '' }))
    for (const one of all) {
      const { name = '', uid } = one.metadata
      if (uid === ref.uid || name === ref.name) continue
      if (hasWord(words, name) && (isTold || name.length >= LONG_NAME)) named.push([resource, one])
      else if (isSure && isNamedIn(one, ref)) naming.push([resource, one, isMeant])
    }
  }
  const told = naming.filter(([, , isMeant]) => isMeant)
  const chosen = named.length > 0 ? named : told.length > 0 ? told : IN_USE.test(words) ? naming : []
  const others = chosen.length === 0 && isSure ? await markedElsewhere(look, ref, words, kinds) : []
  const how = named.length > 0 ? SAYS_SO : `it names the ${ref.kind}`
  return Promise.all([
    ...chosen.slice(0, MOST_ALIKE).map(([resource, one]) => usedBy(look, resource, one, how, examine)),
    ...others.slice(0, MOST_ALIKE).map(async ({ resource, object, isNamed }): Promise<Link> => {
      if (isNamed) return usedBy(look, resource, object, SAYS_SO, examine)
      const link = await usedBy(
        look,
        resource,
        object,
        `its controller says that it waits for a ${resource.kind}`,
        examine,
      )
      return { ...link, inferred: true }
    }),
  ])
}

const SAYS_SO = 'its controller says that it waits for it'

interface Elsewhere {
  readonly resource: NamedResource
  readonly object: KubeObject
  /** By its own name; or words tell of its kind alone. */
  readonly isNamed: boolean
}

/** What words of waiting name of kinds that are no part of the software, and that is being deleted: by kind and name, or of kinds that are defined, by the kind alone. */
async function markedElsewhere(
  look: Look,
  ref: ObjectRef,
  words: string,
  own: readonly NamedResource[],
): Promise<readonly Elsewhere[]> {
  const isMarked = ({ metadata }: KubeObject) =>
    metadata.deletionTimestamp !== undefined &&
    metadata.uid !== ref.uid &&
    look.path.every(({ uid }) => uid !== metadata.uid)
  const found: Elsewhere[] = []
  for (const [resource, name] of pairsOfKinds(look, ref, words, own)) {
    if (look.reader.left < KEPT) break
    const read = await look.reader.get(resource, resource.namespaced ? ref.namespace : '', name)
    if (read.state === 'found' && isMarked(read.value)) found.push({ resource, object: read.value, isNamed: true })
  }
  if (found.length > 0) return found
  const spoken = look.kinds.resources.filter(
    (one) =>
      !isKubernetes(one.group) &&
      !own.includes(one) &&
      one.verbs.includes('list') &&
      one.kind.length >= LONG_NAME &&
      isToldWithoutName(words, one.kind),
  )
  for (const resource of spoken.slice(0, MOST_PAIRS)) {
    if (look.reader.left < KEPT) break
    const all = itemsOf(await look.reader.list(resource, { namespace: resource.namespaced ? ref.namespace : '' }))
    // Of namespaces the words say nothing, but where they name one: an object that is in none may mean any or none of them.
    const isMeant = (one: KubeObject) =>
      one.metadata.namespace === undefined || ref.namespace !== '' || hasWord(words, one.metadata.namespace)
    for (const object of all.filter((one) => isMarked(one) && isMeant(one)).slice(0, MOST_ALIKE))
      found.push({ resource, object, isNamed: false })
  }
  return found
}

/** Kinds of others and names that stand there together, each pair once. */
function pairsOfKinds(
  look: Look,
  ref: ObjectRef,
  words: string,
  own: readonly NamedResource[],
): readonly (readonly [NamedResource, name: string])[] {
  const pairs = new Map<string, readonly [NamedResource, string]>()
  for (const { word, group, name } of wordsAndNames(words)) {
    const resource = kindNamed(look, ref, word, group)
    if (resource === undefined || own.includes(resource) || !resource.verbs.includes('get')) continue
    if (resource.namespaced && ref.namespace === '') continue
    pairs.set(kubectlName({ ...resource, name }), [resource, name])
  }
  return [...pairs.values()].slice(0, MOST_PAIRS)
}

const MOST_PAIRS = 8

/** A shorter name may be a word of the sentence. */
const LONG_NAME = 5

const tellsOf = (words: string, { kind, resource }: NamedResource): boolean => {
  const plain = words.toLowerCase().replaceAll(/[\s_-]+/g, '')
  return plain.includes(kind.toLowerCase()) || plain.includes(resource)
}

/** `existing bindings` of a ServiceBinding: enough for one that names the object. */
function tellsLastWordOf(words: string, { kind }: NamedResource): boolean {
  const last = lastWordOf(kind)
  return last.length >= LONG_NAME && new RegExp(`\\b${last}(e?s)?\\b`, 'i').test(words)
}
