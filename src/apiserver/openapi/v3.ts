/** OpenAPI v3 documents: one per group version (KEP-2896). */
import type { Json, JsonObject } from '../../api/object.ts'
import type { Steps } from '../../base/turns.ts'
import { type Descriptions, fieldText } from './descriptions.ts'
import { type OpenApiOperation, operationText, type PathItem } from './operations.ts'
import { type Parameter, parameterText } from './parameters.ts'

const REFERENCE = '#/components/schemas/'

/** Codes in the words of HTTP: OpenAPI wants a description of each answer. */
export const CODE_TEXTS: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' }
export const UNAUTHORIZED = { description: 'Unauthorized' }

export interface DocumentParts {
  readonly info: { readonly title: string; readonly version: string }
  readonly items: readonly PathItem[]
  readonly schemas: ReadonlyMap<string, JsonObject>
  readonly secured: boolean
  readonly descriptions: Descriptions
}

export const byPath = (items: readonly PathItem[]): readonly PathItem[] =>
  [...items].sort((a, b) => (a.path < b.path ? -1 : 1))

export function* v3Document({ info, items, schemas, secured, descriptions }: DocumentParts): Steps<JsonObject> {
  const paths: Record<string, Json> = {}
  for (const item of byPath(items)) {
    yield
    paths[item.path] = pathItem(item, descriptions)
  }
  return {
    openapi: '3.0.0',
    info,
    paths,
    components: {
      ...(schemas.size > 0 ? { schemas: Object.fromEntries(schemas) } : {}),
      ...(secured ? { securitySchemes: { BearerToken: bearerTokenScheme(descriptions) } } : {}),
    },
  }
}

/** How clients authenticate, in either version of OpenAPI. */
export function bearerTokenScheme(descriptions: Descriptions): JsonObject {
  const description = fieldText(descriptions, 'http.Parameter', 'authorization')
  return { type: 'apiKey', description, name: 'authorization', in: 'header' }
}

/** The parameters that all operations of a path share stand on the path. */
export function sharedParameters({ operations }: PathItem): ReadonlySet<Parameter> {
  const [first, ...others] = operations
  return new Set(first?.parameters.filter((one) => others.every((other) => other.parameters.includes(one))))
}

/** By name, and of one name in the path before the query. */
export function sortedParameters(parameters: Iterable<Parameter>): readonly Parameter[] {
  return [...parameters].sort((a, b) => (`${a.name} ${a.in}` < `${b.name} ${b.in}` ? -1 : 1))
}

function pathItem(item: PathItem, descriptions: Descriptions): JsonObject {
  const shared = sharedParameters(item)
  return {
    ...Object.fromEntries(item.operations.map((one) => [one.method, operation(one, shared, descriptions)])),
    ...parametersOf(shared, descriptions),
  }
}

function parametersOf(parameters: Iterable<Parameter>, descriptions: Descriptions): JsonObject {
  const sorted = sortedParameters(parameters)
  if (sorted.length === 0) return {}
  return {
    parameters: sorted.map((one) => ({
      name: one.name,
      in: one.in,
      description: parameterText(descriptions, one),
      ...(one.in === 'path' ? { required: true } : {}),
      schema: { type: one.type, uniqueItems: true },
    })),
  }
}

function operation(one: OpenApiOperation, shared: ReadonlySet<Parameter>, descriptions: Descriptions): JsonObject {
  const answer: Json = one.answer === undefined ? { type: 'string' } : { $ref: REFERENCE + one.answer }
  const content = Object.fromEntries([...one.produces].sort().map((type) => [type, { schema: answer }]))
  const { body, gvk } = one
  return {
    tags: [one.tag],
    description: operationText(descriptions, one),
    operationId: one.id,
    ...parametersOf(
      one.parameters.filter((parameter) => !shared.has(parameter)),
      descriptions,
    ),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            content: Object.fromEntries(
              [...(one.consumes ?? [])].sort().map((type) => [type, { schema: { $ref: REFERENCE + body.definition } }]),
            ),
            ...(body.required ? { required: true } : {}),
          },
        }),
    responses: {
      ...Object.fromEntries(one.codes.map((code) => [code, { description: CODE_TEXTS[code], content }])),
      401: UNAUTHORIZED,
    },
    ...(one.action === undefined ? {} : { 'x-kubernetes-action': one.action }),
    ...(gvk === undefined ? {} : { 'x-kubernetes-group-version-kind': { ...gvk } }),
  }
}
