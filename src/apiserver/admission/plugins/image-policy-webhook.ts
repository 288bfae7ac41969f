/** ImagePolicyWebhook: a server elsewhere says of the images of a pod whether they may run (imagepolicy.k8s.io/v1alpha1, ImageReview). */
import type { Pod } from '../../../api/generated/types.ts'
import type { JsonObject } from '../../../api/object.ts'
import { asObject, asText } from '../../../api/unchecked.ts'
import { messageOf } from '../../../base/errors.ts'
import { goDurationTextMs } from '../../../base/go-duration.ts'
import type { Runtime } from '../../../base/runtime.ts'
import type { HttpsEndpoint } from '../../../http/client.ts'
import { createAnswerCache } from '../../auth/webhook/cache.ts'
import { createReviewClient } from '../../auth/webhook/client.ts'
import type { AdmissionAttributes, AdmissionPluginFactory } from '../plugin.ts'
import { refused } from './pods.ts'

const TIMEOUT_MS = 30_000
/** As many as kube-apiserver keeps. */
const MOST_ANSWERS = 1024
const ABOUT = 'image-policy.k8s.io/'
const NOTE = 'imagepolicywebhook.image-policy.k8s.io/'

/** `endpointOf`: what a kubeconfig says of the server. undefined where none is to be asked, and every image may run. */
export const imagePolicyWebhook =
  (runtime: Runtime, endpointOf: ((kubeconfig: string) => HttpsEndpoint) | undefined): AdmissionPluginFactory =>
  (_reads, _host, configuration) => {
    if (configuration === undefined) throw new Error('no config specified')
    const policy = asObject(configuration['imagePolicy'])
    const allowMs = period(policy['allowTTL'], 1000, { usual: 300_000, least: '1s', most: 1_800_000 })
    const denyMs = period(policy['denyTTL'], 1000, { usual: 30_000, least: '1s', most: 1_800_000 })
    const backoffMs = period(policy['retryBackoff'], 1, { usual: 500, least: '1ns', most: 300_000 })
    const file = asText(policy['kubeConfigFile'])
    if (file === '')
      throw new Error(
        'invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable',
      )
    const client = endpointOf && createReviewClient(runtime, endpointOf(file), TIMEOUT_MS, backoffMs)
    const answers = createAnswerCache<JsonObject>(runtime.clock, MOST_ANSWERS, ({ allowed }) =>
      allowed === true ? allowMs : denyMs,
    )
    return {
      name: 'ImagePolicyWebhook',
      handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
      async validate(attributes) {
        if (client === undefined || !isJudged(attributes)) return
        const spec = reviewed(attributes)
        let status: JsonObject
        try {
          status = await answers.get(JSON.stringify(spec), () => client.ask(reviewOf(spec)))
        } catch (error) {
          if (policy['defaultAllow'] !== true) throw refused(attributes, messageOf(error))
          attributes.annotate?.(`${NOTE}failed-open`, 'true')
          return
        }
        for (const [key, value] of Object.entries(asObject(status['auditAnnotations'])))
          attributes.annotate?.(`${NOTE}${key}`, asText(value))
        if (status['allowed'] === true) return
        const reason = asText(status['reason'])
        throw refused(
          attributes,
          reason === ''
            ? 'one or more images rejected by webhook backend'
            : `image policy webhook backend denied one or more images: ${reason}`,
        )
      },
    }
  }

const isJudged = ({ endpoint: { row }, subresource }: AdmissionAttributes): boolean =>
  row.group === '' && row.resource === 'pods' && (subresource === '' || subresource === 'ephemeralcontainers')

const reviewOf = (spec: ReturnType<typeof reviewed>) => ({
  kind: 'ImageReview',
  apiVersion: 'imagepolicy.k8s.io/v1alpha1',
  metadata: {},
  spec,
  status: { allowed: false },
})

/** The fields in Kubernetes' order: the answer to the same is kept. */
function reviewed({ object, subresource, namespace }: AdmissionAttributes) {
  const { metadata, spec } = object as Pod
  const containers =
    subresource === 'ephemeralcontainers'
      ? (spec?.ephemeralContainers ?? [])
      : [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]
  const about = Object.entries(metadata?.annotations ?? {}).filter(([key]) => key.includes(`.${ABOUT}`))
  return {
    containers: containers.map(({ image }) => (image === undefined ? {} : { image })),
    ...(about.length === 0 ? {} : { annotations: Object.fromEntries(about.sort(([a], [b]) => (a < b ? -1 : 1))) }),
    namespace,
  }
}

/** 0 is the usual, and -1 none at all. @throws Error */
function period(
  given: unknown,
  unitMs: number,
  { usual, least, most }: { readonly usual: number; readonly least: string; readonly most: number },
): number {
  if (given === undefined || given === null || given === 0) return usual
  if (given === -1) return 0
  const ms = Number(given) * unitMs
  if (ms > 0 && ms <= most) return ms
  throw new Error(`valid value is between ${least} and ${goDurationTextMs(most)}, got ${goDurationTextMs(ms)}`)
}
