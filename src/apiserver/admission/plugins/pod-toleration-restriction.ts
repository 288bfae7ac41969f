/** PodTolerationRestriction: a namespace, or the cluster for those that say nothing, gives its pods tolerations and says which they may have. */

import type { FieldError } from '../../../api/errors/field-errors.ts'
import type { Namespace, Pod, Toleration } from '../../../api/generated/types.ts'
import type { JsonObject } from '../../../api/object.ts'
import { qosClass } from '../../../api/objects/qos.ts'
import { areAllWithin, mergedTolerations } from '../../../api/objects/tolerations.ts'
import { StatusError } from '../../../api/status.ts'
import { asList, asObject, asText } from '../../../api/unchecked.ts'
import { validateTolerations } from '../../../api/validation/affinity.ts'
import { jsonSyntaxWords } from '../../../api/values/json.ts'
import type { AdmissionPluginFactory } from '../plugin.ts'
import { isPod, withSpec } from './pods.ts'

const DEFAULTS = 'scheduler.alpha.kubernetes.io/defaultTolerations'
const ALLOWED = 'scheduler.alpha.kubernetes.io/tolerationsWhitelist'
const MEMORY_PRESSURE: Toleration = {
  key: 'node.kubernetes.io/memory-pressure',
  operator: 'Exists',
  effect: 'NoSchedule',
}

export const podTolerationRestriction: AdmissionPluginFactory = (reads, _host, configuration = {}) => {
  const ofCluster = tolerationsOf(configuration)
  const errors: FieldError[] = []
  validateTolerations(ofCluster.usual, 'podtolerationrestriction.default', errors)
  validateTolerations(ofCluster.allowed, 'podtolerationrestriction.whitelist', errors)
  if (errors.length > 0)
    throw new Error(`invalid config: [${errors.map(({ field, message }) => `${field}: ${message}`).join(', ')}]`)
  const said = (namespace: string, annotation: string): readonly Toleration[] | undefined => {
    const text = reads.get<Namespace>('', 'namespaces', '', namespace)?.metadata.annotations?.[annotation]
    return text === undefined ? undefined : parsed(text)
  }
  const check = ({ spec }: Pod, namespace: string): void => {
    const own = said(namespace, ALLOWED)
    const allowed = own ?? ofCluster.allowed
    if (allowed.length === 0 || areAllWithin(spec?.tolerations ?? [], allowed)) return
    const whose = own === undefined ? 'cluster' : 'namespace'
    const message = `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${whose} whitelist`
    throw new StatusError(500, '', message)
  }
  return {
    name: 'PodTolerationRestriction',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    mutate(attributes) {
      const pod: Pod = attributes.object!
      if (!isPod(attributes)) return pod
      const given = attributes.operation === 'CREATE' ? (said(attributes.namespace, DEFAULTS) ?? ofCluster.usual) : []
      const added = qosClass(pod.spec ?? {}) === 'BestEffort' ? given : [...given, MEMORY_PRESSURE]
      const made =
        added.length === 0
          ? pod
          : withSpec(
              pod,
              { tolerations: mergedTolerations(pod.spec?.tolerations ?? [], added) },
              attributes.endpoint.parts,
            )
      check(made, attributes.namespace)
      return made
    },
    validate(attributes) {
      if (isPod(attributes)) check(attributes.object as Pod, attributes.namespace)
    },
  }
}

const tolerationsOf = ({ default: usual, whitelist }: JsonObject) => ({
  usual: readTolerations(usual),
  allowed: readTolerations(whitelist),
})

const readTolerations = (given: unknown): readonly Toleration[] =>
  asList(given).map((one) => {
    const { key, operator, value, effect, tolerationSeconds } = asObject(one)
    return {
      ...textsOf({ key, operator, value, effect }),
      ...(typeof tolerationSeconds === 'number' ? { tolerationSeconds } : {}),
    }
  })

const textsOf = (fields: JsonObject): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, text]) => (asText(text) === '' ? [] : [[name, asText(text)]])),
  )

/** An empty annotation is an empty list. @throws StatusError 500 in Go's words for one that is no list */
function parsed(text: string): readonly Toleration[] {
  if (text === '') return []
  try {
    return readTolerations(JSON.parse(text))
  } catch (error) {
    throw new StatusError(500, '', jsonSyntaxWords(text, error))
  }
}
