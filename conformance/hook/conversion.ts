/**
 * The conversion webhook of recordings: one version's `spec.size` is the other's `spec.scale.size`; each way spoils it in its
 * own way.
 */

// biome-ignore lint/suspicious/noExplicitAny: reviews, and objects of kinds that cases make up
type Any = any

function converted(object: Any, desired: string): Any {
  const { spec, ...rest } = object
  if (object.apiVersion === desired) return object
  const { size, scale, ...others } = spec ?? {}
  const wanted = size ?? scale?.size
  const held = desired.endsWith('/v1') ? { size: wanted } : { scale: { size: wanted } }
  return {
    ...rest,
    apiVersion: desired,
    ...(spec === undefined ? {} : { spec: { ...others, ...(wanted === undefined ? {} : held) } }),
  }
}

const meta = (object: Any, more: Any): Any => ({ ...object, metadata: { ...object.metadata, ...more } })

/** Ways that give other objects. */
const spoilt: Readonly<Record<string, (objects: Any[]) => Any[]>> = {
  few: (objects) => objects.slice(1),
  many: (objects) => [...objects, ...objects],
  none: () => [],
  null: (objects) => objects.map(() => null),
  name: (objects) => objects.map((o) => meta(o, { name: 'other' })),
  namespace: (objects) => objects.map((o) => meta(o, { namespace: 'other' })),
  uid: (objects) => objects.map((o) => meta(o, { uid: 'other' })),
  labels: (objects) => objects.map((o) => meta(o, { labels: { by: 'webhook' }, annotations: { by: 'webhook' } })),
  unlabelled: (objects) => objects.map((o) => meta(o, { labels: undefined, annotations: undefined })),
  badlabels: (objects) => objects.map((o) => meta(o, { labels: { 'a b': '!' } })),
  finalizers: (objects) => objects.map((o) => meta(o, { finalizers: ['x.example.com/f'], ownerReferences: [] })),
  generation: (objects) =>
    objects.map((o) => meta(o, { generation: 77, resourceVersion: '1', creationTimestamp: null })),
  kind: (objects) => objects.map((o) => ({ ...o, kind: 'Other' })),
  nometadata: (objects) => objects.map(({ metadata: _, ...o }) => o),
  extra: (objects) => objects.map((o) => ({ ...o, bogus: 1, spec: { ...o.spec, bogus: 1 } })),
  types: (objects) => objects.map((o) => ({ ...o, spec: { ...o.spec, mode: 7 } })),
}

const success = (convertedObjects: Any) => ({ result: { status: 'Success' }, convertedObjects })

/** What is answered; undefined for ways that are none. */
export function conversionResponse(way: string, review: Any): Any {
  const { objects, desiredAPIVersion, uid } = review.request
  const well = objects.map((object: Any) => converted(object, desiredAPIVersion))
  const response = (made: Any) => ({ apiVersion: review.apiVersion, kind: 'ConversionReview', response: made })
  const spoil = spoilt[way]
  if (spoil !== undefined) return response({ uid, ...success(spoil(well)) })
  switch (way) {
    case 'version':
      return response({ uid, ...success(objects) })
    case 'failed':
      return response({
        uid,
        result: { status: 'Failure', message: 'cannot be converted today', reason: 'Invalid', code: 422 },
      })
    case 'failedmute':
      return response({ uid, result: { status: 'Failure' } })
    case 'noresult':
      return response({ uid, convertedObjects: well })
    case 'wronguid':
      return response({ uid: 'x', ...success(well) })
    case 'absent':
      return { apiVersion: review.apiVersion, kind: 'ConversionReview' }
    case 'podkind':
      return { apiVersion: 'v1', kind: 'Pod' }
    case 'betareview':
      return { ...response({ uid, ...success(well) }), apiVersion: 'apiextensions.k8s.io/v1beta1' }
    case 'some':
      return objects.some((object: Any) => object.spec?.mode === 'fail')
        ? response({ uid, result: { status: 'Failure', message: 'one of them cannot be converted' } })
        : response({ uid, ...success(well) })
    case 'told':
      return response({ uid, result: { status: 'Failure', message: told(review) } })
    default:
      return response({ uid, ...success(well) })
  }
}

/** What the webhook is told, but for the objects' own contents. */
function told(review: Any): string {
  const { uid: _, objects, ...rest } = review.request
  const seen = objects.map((o: Any) => ({
    apiVersion: o.apiVersion,
    kind: o.kind,
    keys: Object.keys(o).sort(),
    meta: Object.keys(o.metadata).sort(),
  }))
  return JSON.stringify({ ...review, request: { ...rest, objects: seen } })
}
