/** Objects that a controller's words name: what it needs and is not there, and what it waits for and nothing deletes. */
import type { KubeObject } from '../../api/object.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import { isKubernetes, unnamedController } from './failures.ts'
import { type Link, lastLink, type ObjectRef } from './finding.ts'
import { itemsOf, KEPT, type Look, MOST_ALIKE } from './look.ts'
import { isNamedIn, kindsOfSoftware, usedBy } from './users.ts'
import type { Examine } from './what-holds-an-object.ts'

/** `Secret "a" not found`, `secrets "a" not found`, `SecretStore.external-secrets.io "a" not found`. */
const NOT_FOUND =
  /(?<![A-Za-z0-9])([A-Za-z][A-Za-z0-9]{0,62})(?:\.([a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}))?[ /:]{1,3}["'`]([a-z0-9][a-z0-9.-]{0,252})["'`] (?:was )?not found/g

/** What words say was not found, and is in fact nowhere where it could be meant. */
export async function needsNamedMissing(look: Look, ref: ObjectRef, words: string): Promise<readonly Link[]> {
  const links: Link[] = []
  for (const [whole, kind = '', group, name = ''] of [...words.matchAll(NOT_FOUND)].slice(0, MOST_ALIKE)) {
    const resource = kindNamed(look, ref, kind, group)
    if (resource === undefined || !resource.verbs.includes('list') || name === ref.name) continue
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

function kindNamed(
  { kinds }: Look,
  ref: ObjectRef,
  word: string,
  group: string | undefined,
): NamedResource | undefined {
  const plain = word.toLowerCase()
  const alike = kinds.resources.filter(
    (one) =>
      (one.kind.toLowerCase() === plain || one.resource === plain) && (group === undefined || one.group === group),
  )
  return alike.find((one) => one.group === ref.group) ?? alike.find((one) => one.group === '') ?? alike[0]
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
  const how = named.length + others.length > 0 ? SAYS_SO : `it names the ${ref.kind}`
  return Promise.all(
    [...chosen, ...others].slice(0, MOST_ALIKE).map(([resource, one]) => usedBy(look, resource, one, how, examine)),
  )
}

const SAYS_SO = 'its controller says that it waits for it'

/** `namespace "team-a"`, `Deployment/web`: a word and a name, in quotes or not. */
const KIND_AND_NAME =
  /(?<![A-Za-z0-9.-])([A-Za-z][A-Za-z0-9]{1,62})(?:\.([a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}))?(?:s\b)?[ /:]{1,3}["'`]?([a-z0-9][a-z0-9.-]{0,252}[a-z0-9])/g

/** What words of waiting name of kinds that are no part of the software, and that is being deleted: by kind and name, or of kinds that are defined, by the kind alone. */
async function markedElsewhere(
  look: Look,
  ref: ObjectRef,
  words: string,
  own: readonly NamedResource[],
): Promise<readonly [NamedResource, KubeObject][]> {
  const isMarked = ({ metadata }: KubeObject) =>
    metadata.deletionTimestamp !== undefined &&
    metadata.uid !== ref.uid &&
    look.path.every(({ uid }) => uid !== metadata.uid)
  const found: [NamedResource, KubeObject][] = []
  for (const [, kind = '', group, name = ''] of [...words.matchAll(KIND_AND_NAME)].slice(0, MOST_PAIRS)) {
    const resource = kindNamed(look, ref, kind, group)
    if (resource === undefined || own.includes(resource) || !resource.verbs.includes('get')) continue
    if ((resource.namespaced && ref.namespace === '') || look.reader.left < KEPT) continue
    const read = await look.reader.get(resource, resource.namespaced ? ref.namespace : '', name)
    if (read.state === 'found' && isMarked(read.value)) found.push([resource, read.value])
  }
  if (found.length > 0) return found
  const spoken = look.kinds.resources.filter(
    (one) =>
      !isKubernetes(one.group) && !own.includes(one) && one.verbs.includes('list') && isSpokenOf(words, one.kind),
  )
  for (const resource of spoken.slice(0, MOST_PAIRS)) {
    if (look.reader.left < KEPT) break
    const all = itemsOf(await look.reader.list(resource, { namespace: resource.namespaced ? ref.namespace : '' }))
    for (const one of all.filter(isMarked).slice(0, MOST_ALIKE)) found.push([resource, one])
  }
  return found
}

const MOST_PAIRS = 8

/** As it is written, for `Instance` or `Bucket` in small letters are words of a sentence. */
const isSpokenOf = (words: string, kind: string): boolean =>
  kind.length >= LONG_NAME && new RegExp(`(?<![A-Za-z0-9])${kind}(e?s)?(?![A-Za-z0-9])`).test(words)

/** A shorter name may be a word of the sentence. */
const LONG_NAME = 5

const tellsOf = (words: string, { kind, resource }: NamedResource): boolean => {
  const plain = words.toLowerCase().replaceAll(/[\s_-]+/g, '')
  return plain.includes(kind.toLowerCase()) || plain.includes(resource)
}

/** `existing bindings` of a ServiceBinding: enough for one that names the object. */
function tellsLastWordOf(words: string, { kind }: NamedResource): boolean {
  const last = /[A-Z][a-z]+$/.exec(kind)?.[0] ?? ''
  return last.length >= LONG_NAME && new RegExp(`\\b${last}(e?s)?\\b`, 'i').test(words)
}

const hasWord = (words: string, name: string): boolean =>
  new RegExp(`(?<![A-Za-z0-9-])${name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![A-Za-z0-9-])`).test(words)
