/**
 * managedFields entries of several versions: each is compared in its own. What only a definition's webhook can convert is
 * asked for when the comparison, a pure function, turns out to need it; then the comparison begins again.
 */
import { NotMergeable } from '../../api/fields/list-item-keys.ts'
import type { VersionedObject } from '../../api/fields/update.ts'
import { misfitText } from '../../api/fields/validate.ts'
import type { KubeObject } from '../../api/object.ts'
import { jsonText } from '../../api/values/json.ts'
import type { WriteContext } from '../registry/registry.ts'
import type { ResourceRequest } from './context.ts'

export interface OtherVersions {
  readonly convert?: (object: KubeObject, apiVersion: string) => VersionedObject | undefined
}

/** Thrown through the comparison: what it cannot go on without. */
class Wanted {
  readonly key: string
  readonly object: Promise<KubeObject>
  constructor(key: string, object: Promise<KubeObject>) {
    this.key = key
    this.object = object
  }
}

/** Runs `compare`, which must be pure, with the hook to see objects in other versions. Never waits but for a webhook. */
export function comparingVersions<T>(
  resource: ResourceRequest,
  { strategy, subresource }: Pick<WriteContext, 'strategy' | 'subresource'>,
  compare: (others: OtherVersions) => T,
): T | Promise<T> {
  const { endpoint } = resource
  const { worked, served } = endpoint
  if (!worked.hasOthers()) return compare({})
  // A subresource owns in no version what it resets; the object itself resets its status in the request's version alone.
  const resetFields = subresource === '' ? undefined : strategy.resetFields
  const fetched = new Map<string, KubeObject | NotMergeable>()
  const convert = (object: KubeObject, apiVersion: string): VersionedObject | undefined => {
    const schema = worked.otherSchema(apiVersion)
    if (schema === undefined) {
      if (!worked.refusesOthers) return undefined
      throw new NotMergeable(`request to convert CR to an invalid group/version: ${apiVersion}`)
    }
    const key = served.byWebhook ? jsonText([apiVersion, object]) : ''
    const other = fetched.get(key) ?? worked.inOther(object, apiVersion)
    if (other instanceof Promise) throw new Wanted(key, other)
    if (other instanceof NotMergeable) throw other
    if (other === undefined) return undefined
    const wrong = worked.comparisonMisfits(other, schema)
    if (wrong.length > 0) throw new NotMergeable(misfitText(wrong))
    return { object: other, schema, ...(resetFields === undefined ? {} : { resetFields }) }
  }
  const attempt = (): T | Promise<T> => {
    try {
      return compare({ convert })
    } catch (error) {
      if (!(error instanceof Wanted)) throw error
      const { key, object } = error
      return object
        .then(
          (made) => fetched.set(key, made),
          (failure: Error) => fetched.set(key, new NotMergeable(failure.message)),
        )
        .then(attempt)
    }
  }
  return attempt()
}
