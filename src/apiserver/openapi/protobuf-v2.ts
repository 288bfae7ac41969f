/** The messages of openapi.v2. */
import type { JsonObject } from '../../api/object.ts'
import {
  any,
  boolean,
  double,
  each,
  encodeForm,
  type Fields,
  inside,
  integer,
  message,
  named,
  orReference,
  type Put,
  text,
} from './protobuf.ts'

const reference = message(() => ({ fields: { $ref: [1, text], description: [2, text] } }))

const schema: Put = message(() => schemaForm)
const additional: Put = (writer, number, value) =>
  inside(typeof value === 'boolean' ? 2 : 1, typeof value === 'boolean' ? boolean : schema)(writer, number, value)

const schemaForm = {
  fields: {
    $ref: [1, text],
    format: [2, text],
    title: [3, text],
    description: [4, text],
    default: [5, any],
    multipleOf: [6, double],
    maximum: [7, double],
    exclusiveMaximum: [8, boolean],
    minimum: [9, double],
    exclusiveMinimum: [10, boolean],
    maxLength: [11, integer],
    minLength: [12, integer],
    pattern: [13, text],
    maxItems: [14, integer],
    minItems: [15, integer],
    uniqueItems: [16, boolean],
    maxProperties: [17, integer],
    minProperties: [18, integer],
    required: [19, each(text)],
    enum: [20, each(any)],
    additionalProperties: [21, additional],
    type: [22, inside(1, each(text))],
    items: [23, inside(1, each(schema))],
    allOf: [24, each(schema)],
    properties: [25, named(schema)],
  } satisfies Fields,
  extensions: 31,
}

/** Query and path parameters; a query's numbers go up by one behind its allowEmptyValue. */
const plain = (shift: number): Put =>
  message(() => ({
    fields: {
      required: [1, boolean],
      in: [2, text],
      description: [3, text],
      name: [4, text],
      type: [5 + shift, text],
      format: [6 + shift, text],
      uniqueItems: [19 + shift, boolean],
    },
  }))
const query = inside(2, inside(3, plain(1)))
const path = inside(2, inside(4, plain(0)))
const bodyParameter = inside(
  1,
  message(() => ({
    fields: {
      description: [1, text],
      name: [2, text],
      in: [3, text],
      required: [4, boolean],
      schema: [5, schema],
    },
  })),
)
const parameter: Put = (writer, number, value) => {
  const place = (value as JsonObject)['in']
  const put = place === 'body' ? bodyParameter : place === 'path' ? path : query
  put(writer, number, value)
}
const parameterItem = each(orReference(inside(1, parameter), inside(2, reference)))

const response = message(() => ({ fields: { description: [1, text], schema: [2, inside(1, schema)] } }))

const operation = message(() => ({
  fields: {
    tags: [1, each(text)],
    summary: [2, text],
    description: [3, text],
    operationId: [5, text],
    produces: [6, each(text)],
    consumes: [7, each(text)],
    parameters: [8, parameterItem],
    responses: [9, named(inside(1, response))],
    schemes: [10, each(text)],
    deprecated: [11, boolean],
  },
  extensions: 13,
}))

const pathItem = message(() => ({
  fields: {
    get: [2, operation],
    put: [3, operation],
    post: [4, operation],
    delete: [5, operation],
    options: [6, operation],
    head: [7, operation],
    patch: [8, operation],
    parameters: [9, parameterItem],
  },
}))

const apiKey = message(() => ({
  fields: { type: [1, text], name: [2, text], in: [3, text], description: [4, text] },
}))

const document = message(() => ({
  fields: {
    swagger: [1, text],
    info: [2, message(() => ({ fields: { title: [1, text], version: [2, text] } }))],
    paths: [8, named(pathItem, 2)],
    definitions: [9, named(schema)],
    parameters: [10, named(parameter)],
    security: [12, each(named(inside(1, each(text))))],
    securityDefinitions: [13, named(inside(2, apiKey))],
  },
}))

export const V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
export const encodeV2 = (value: JsonObject): Uint8Array => encodeForm(document, value)
