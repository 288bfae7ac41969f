/**
 * endpoints: each row of the scheme compiled into one object, once per server: what handlers and the store ask of a resource
 * (registry/endpoint.ts). Made in two ways, from a row of the generated table and from one that a definition made. Wired by
 * the server.
 */

import { createJournalTexts } from '../../api/journal-texts.ts'
import { apiVersionOf } from '../../api/object.ts'
import { createParts, createPartTexts, noParts } from '../../api/parts.ts'
import type { CustomVersion, ResourceRow, Scheme } from '../../api/scheme/resource.ts'
import { methodNotSupported, notFound, type StatusError } from '../../api/status.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import type { WebhookConversion } from '../customresources/conversion-webhook.ts'
import { customScale } from '../customresources/scale.ts'
import { customStrategy } from '../customresources/strategy.ts'
import type { RequestEndpoint } from '../handlers/context.ts'
import { createRequestPlans } from '../handlers/request-plan.ts'
import { shownCustomKind, shownKind } from '../handlers/shown-kind.ts'
import type { ResourceEndpoint, VerbRouting } from '../registry/endpoint.ts'
import { groupResource } from '../registry/registry.ts'
import { builtinStrategy, type Strategies } from '../strategies/index.ts'
import { builtinReader } from './builtin-reader.ts'
import { builtinScale } from './builtin-scale.ts'
import { builtinVersions } from './builtin-versions.ts'
import { customReader } from './custom-reader.ts'
import { customVersions, type FormsOfDefinition } from './custom-versions.ts'
import { DEPRECATED } from './deprecated.ts'

/** Of a deprecated version it is told also where nothing else is served. */
function warnedOf({ deprecationWarning }: CustomVersion, refusal: StatusError): StatusError {
  if (deprecationWarning !== undefined) refusal.warnings = [deprecationWarning]
  return refusal
}

const customRouting = (row: ResourceRow, custom: CustomVersion): VerbRouting => ({
  noSubresource: (name) => warnedOf(custom, notFound(groupResource(row), name)),
  notAllowed: (verb) => warnedOf(custom, methodNotSupported(groupResource(row), verb)),
})

/** Made at the first request for the row, kept as long as the row. */
export function createEndpoints(
  scheme: Scheme,
  strategies: Strategies,
  webhook: WebhookConversion,
): (row: ResourceRow) => RequestEndpoint {
  const made = new WeakMap<ResourceRow, RequestEndpoint>()
  const texts = createPartTexts()
  const forms = new WeakMap<CustomVersion['schemasOf'], FormsOfDefinition>()

  function formsOf({ schemasOf }: CustomVersion): FormsOfDefinition {
    return getOrInsertComputed(forms, schemasOf, () => new Map())
  }

  function compile(row: ResourceRow): RequestEndpoint {
    const { custom } = row
    const parts = custom === undefined ? createParts(texts) : noParts
    const reader = custom === undefined ? builtinReader(row, parts) : customReader(row, custom)
    const readerOf: ResourceEndpoint['readerOf'] = (kind) => (kind === row ? reader : builtinReader(kind))
    const own =
      custom === undefined
        ? {
            ...shownKind(row),
            strategy: builtinStrategy(row, strategies),
            ...builtinVersions(row, scheme, parts),
            scale: builtinScale,
            routing: undefined,
            deprecated: DEPRECATED[`${apiVersionOf(row.group, row.version)} ${row.kind}`],
          }
        : {
            ...shownCustomKind(row),
            strategy: customStrategy(row, custom),
            ...customVersions(row, custom, webhook, formsOf(custom)),
            scale: customScale(row, custom),
            routing: customRouting(row, custom),
            deprecated: custom.deprecationWarning,
          }
    return {
      row,
      ...own,
      reader,
      parts,
      journalTexts: createJournalTexts(row),
      readerOf,
      planOf: createRequestPlans(),
    }
  }

  return (row) => getOrInsertComputed(made, row, compile)
}
