/** Objects that the API server itself cannot read: their definition's conversion webhook fails, or they cannot be decrypted. */
import type { CustomResourceDefinition } from '../../api/generated/types.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import type { Read } from '../cluster-reader.ts'
import { isKubernetes } from './failures.ts'
import { type Link, lastLink } from './finding.ts'
import { DEFINITIONS, foundOf, type Look } from './look.ts'
import { serviceState } from './services.ts'

type Failed = Extract<Read<never>, { state: 'failed' }>

const DECRYPTION = /transformable|transformer|unable to transform|decrypt|no matching (key|prefix) was found|encrypted/i
const CONVERSION = /conversion webhook|conversion for/i

/** Why these cannot be listed, as last causes. */
export async function listFailure(
  look: Look,
  resource: NamedResource,
  { code, message }: Failed,
): Promise<readonly Link[]> {
  const named = resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`
  const conversion = await conversionFailure(look, resource, message)
  if (conversion !== undefined) return [conversion]
  if (isBusy(code)) return [lastLink('slow', { kind: 'unseen', what: named, why: message }, true)]
  // An aggregated API's own failure is told with its APIService.
  if (code === 503 || code === 0) return []
  return [lastLink('refused', { kind: 'unreadable', object: named, isDecryption: DECRYPTION.test(message), message })]
}

/** The server answers so when it has too much to do (API concept: priority and fairness): that says nothing of what was asked about. */
export const isBusy = (code: number): boolean => code === 429 || code === 408 || code === 504

export const isDecryption = (message: string): boolean => DECRYPTION.test(message)

/**
 * The conversion webhook that fails, if it is one. A server that cannot fill its watch cache, since what it reads cannot be converted,
 * does not say so: then the definition and the webhook's Service tell.
 */
export async function conversionFailure(
  look: Look,
  { group, resource }: Pick<NamedResource, 'group' | 'resource'>,
  message: string,
): Promise<Link | undefined> {
  if (isKubernetes(group)) return undefined
  const link = await conversionLink(look, `${resource}.${group}`, message)
  const isDown = 'verdict' in link && link.verdict === 'nobody'
  return CONVERSION.test(message) || isDown ? link : undefined
}

async function conversionLink(look: Look, definition: string, message: string): Promise<Link> {
  const found = foundOf(await look.reader.get<CustomResourceDefinition>(DEFINITIONS, '', definition))
  const client = found?.spec.conversion?.webhook?.clientConfig?.service
  const service = client === undefined ? undefined : await serviceState(look, client.namespace, client.name)
  const verdict = service === undefined || service.problem === '' ? 'refused' : 'nobody'
  return lastLink(verdict, {
    kind: 'conversion-webhook',
    definition,
    message,
    ...(service === undefined ? {} : { service }),
  })
}
