/** The messages of openapi.v2. */
import type { JsonObject } from '../../api/object.ts'
import type { Steps } from '../../base/turns.ts'
import {
  any,
  boolean,
  double,
  encodeForm,
  integer,
  type MessageFields,
  message,
  named,
  orReference,
  type Put,
  putEach,
  putInside,
  text,
} from './protobuf.ts'

const reference = message(() => ({ fields: { $ref: [1, text], description: [2, text] } }))

const schema: Put = message(() => schemaForm)
const additional: Put = (writer, number, value) =>
  putInside(typeof value === 'boolean' ? 2 : 1, typeof value === 'boolean' ? boolean : schema)(writer, number, value)

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
    required: [19, putEach(text)],
    enum: [20, putEach(any)],
    additionalProperties: [21, additional],
    type: [22, putInside(1, putEach(text))],
    items: [23, putInside(1, putEach(schema))],
    allOf: [24, putEach(schema)],
    properties: [25, named(schema)],
  } satisfies MessageFields,
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
const query = putInside(2, putInside(3, plain(1)))
const path = putInside(2, putInside(4, plain(0)))
const bodyParameter = putInside(
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
const parameterItem = putEach(orReference(putInside(1, parameter), putInside(2, reference)))

const response = message(() => ({ fields: { description: [1, text], schema: [2, putInside(1, schema)] } }))

const operation = message(() => ({
  fields: {
    tags: [1, putEach(text)],
    summary: [2, text],
    description: [3, text],
    operationId: [5, text],
    produces: [6, putEach(text)],
    consumes: [7, putEach(text)],
    parameters: [8, parameterItem],
    responses: [9, named(putInside(1, response))],
    schemes: [10, putEach(text)],
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
    security: [12, putEach(named(putInside(1, putEach(text))))],
    securityDefinitions: [13, named(putInside(2, apiKey))],
  },
}))

export const V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
export const encodeV2 = (value: JsonObject): Steps<readonly Uint8Array[]> => encodeForm(document, value)
