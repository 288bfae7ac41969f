/** The OpenAPI v2 document: the whole API in one. */
import type { Json, JsonObject } from '../../api/object.ts'
import type { Steps } from '../../base/turns.ts'
import type { Descriptions } from './descriptions.ts'
import { type OpenApiOperation, operationText, type PathItem } from './operations.ts'
import { type Parameter, parameterText, SHARED } from './parameters.ts'
import { toV2 } from './schemas.ts'
import { bearerTokenScheme, byPath, CODE_TEXTS, sharedParameters, sortedParameters, UNAUTHORIZED } from './v3.ts'

const REFERENCE = '#/definitions/'

/** Bodies that many operations take stand among the shared parameters. */
const SHARED_BODIES: Readonly<Record<string, string>> = {
  'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions': 'body-2Y1dVQaQ',
  'io.k8s.apimachinery.pkg.apis.meta.v1.Patch': 'body-78PwaGsr',
}

export function* v2Document(
  items: readonly PathItem[],
  schemas: ReadonlyMap<string, JsonObject>,
  descriptions: Descriptions,
): Steps<JsonObject> {
  const paths: Record<string, Json> = {}
  for (const item of byPath(items)) {
    yield
    paths[item.path] = pathItem(item, descriptions)
  }
  const definitions: Record<string, Json> = {}
  for (const [name, schema] of schemas) {
    yield
    definitions[name] = toV2(schema)
  }
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: '1.37' },
    paths,
    definitions,
    parameters: sharedOnes(descriptions),
    securityDefinitions: { BearerToken: bearerTokenScheme(descriptions) },
    security: [{ BearerToken: [] }],
  }
}

function sharedOnes(descriptions: Descriptions): JsonObject {
  const bodies = Object.entries(SHARED_BODIES).map(([definition, name]): [string, Json] => [
    name,
    bodyParameter({ definition, required: definition.endsWith('.Patch') }),
  ])
  const all = [...bodies, ...SHARED.map((one): [string, Json] => [one.shared as string, inline(one, descriptions)])]
  return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function inline(one: Parameter, descriptions: Descriptions): Json {
  const { name, in: place, type } = one
  const description = parameterText(descriptions, one)
  return { uniqueItems: true, type, description, name, in: place, ...(place === 'path' ? { required: true } : {}) }
}

function bodyParameter({ definition, required }: NonNullable<OpenApiOperation['body']>): Json {
  return { name: 'body', in: 'body', ...(required ? { required } : {}), schema: { $ref: REFERENCE + definition } }
}

const parameter = (one: Parameter, descriptions: Descriptions): Json =>
  one.shared === undefined ? inline(one, descriptions) : { $ref: `#/parameters/${one.shared}` }

function body(of: NonNullable<OpenApiOperation['body']>): Json {
  const shared = SHARED_BODIES[of.definition]
  return shared === undefined ? bodyParameter(of) : { $ref: `#/parameters/${shared}` }
}

function pathItem(item: PathItem, descriptions: Descriptions): JsonObject {
  const shared = sharedParameters(item)
  const common = sortedParameters(shared).map((one) => parameter(one, descriptions))
  return {
    ...Object.fromEntries(item.operations.map((one) => [one.method, operation(one, shared, descriptions)])),
    ...(common.length > 0 ? { parameters: common } : {}),
  }
}

function operation(one: OpenApiOperation, shared: ReadonlySet<Parameter>, descriptions: Descriptions): JsonObject {
  const schema: Json = one.answer === undefined ? { type: 'string' } : { $ref: REFERENCE + one.answer }
  const parameters = [
    ...(one.body === undefined ? [] : [body(one.body)]),
    ...sortedParameters(one.parameters.filter((each) => !shared.has(each))).map((each) =>
      parameter(each, descriptions),
    ),
  ]
  const { gvk } = one
  return {
    ...(one.consumes === undefined ? {} : { consumes: one.consumes }),
    produces: one.produces,
    schemes: ['https'],
    tags: [one.tag],
    description: operationText(descriptions, one),
    operationId: one.id,
    ...(parameters.length > 0 ? { parameters } : {}),
    responses: {
      ...Object.fromEntries(one.codes.map((code) => [code, { description: CODE_TEXTS[code], schema }])),
      401: UNAUTHORIZED,
    },
    ...(one.action === undefined ? {} : { 'x-kubernetes-action': one.action }),
    ...(gvk === undefined
      ? {}
      : { 'x-kubernetes-group-version-kind': { group: gvk.group, kind: gvk.kind, version: gvk.version } }),
  }
}
