/** The messages of openapi.v3. */
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

const reference = message(() => ({ fields: { $ref: [1, text], summary: [2, text], description: [3, text] } }))
const plainSchema: Put = message(() => schemaForm)
const schema: Put = orReference(putInside(1, plainSchema), putInside(2, reference))

const additional: Put = (writer, number, value) =>
  putInside(typeof value === 'boolean' ? 2 : 1, typeof value === 'boolean' ? boolean : schema)(writer, number, value)

/** A default that is no scalar is an empty message. A scalar is written even when it is zero: it was chosen. */
const scalar: Put = (writer, number, value) => {
  const end = writer.length()
  if (typeof value === 'string') writer.text(3, value)
  else if (typeof value === 'boolean') writer.integer(2, value ? 1 : 0)
  else if (typeof value === 'number') writer.double(1, value)
  writer.lengthTag(number, writer.length() - end)
}

const schemaForm = {
  fields: {
    nullable: [1, boolean],
    title: [9, text],
    multipleOf: [10, double],
    maximum: [11, double],
    exclusiveMaximum: [12, boolean],
    minimum: [13, double],
    exclusiveMinimum: [14, boolean],
    maxLength: [15, integer],
    minLength: [16, integer],
    pattern: [17, text],
    maxItems: [18, integer],
    minItems: [19, integer],
    uniqueItems: [20, boolean],
    maxProperties: [21, integer],
    minProperties: [22, integer],
    required: [23, putEach(text)],
    enum: [24, putEach(any)],
    type: [25, text],
    allOf: [26, putEach(schema)],
    oneOf: [27, putEach(schema)],
    anyOf: [28, putEach(schema)],
    not: [29, plainSchema],
    items: [30, putInside(1, putEach(schema))],
    properties: [31, named(schema)],
    additionalProperties: [32, additional],
    default: [33, scalar],
    description: [34, text],
    format: [35, text],
  } satisfies MessageFields,
  extensions: 36,
}

const content = named(message(() => ({ fields: { schema: [1, schema] } })))

const parameters = putEach(
  putInside(
    1,
    message(() => ({
      fields: {
        name: [1, text],
        in: [2, text],
        description: [3, text],
        required: [4, boolean],
        schema: [10, schema],
      },
    })),
  ),
)

const requestBody = putInside(
  1,
  message(() => ({ fields: { description: [1, text], content: [2, content], required: [3, boolean] } })),
)
const response = putInside(
  1,
  message(() => ({ fields: { description: [1, text], content: [3, content] } })),
)

const operation = message(() => ({
  fields: {
    tags: [1, putEach(text)],
    summary: [2, text],
    description: [3, text],
    operationId: [5, text],
    parameters: [6, parameters],
    requestBody: [7, requestBody],
    responses: [8, named(response, 2)],
    deprecated: [10, boolean],
  },
  extensions: 13,
}))

const pathItem = message(() => ({
  fields: {
    get: [4, operation],
    put: [5, operation],
    post: [6, operation],
    delete: [7, operation],
    options: [8, operation],
    head: [9, operation],
    patch: [10, operation],
    parameters: [13, parameters],
  },
}))

const securityScheme = putInside(
  1,
  message(() => ({ fields: { type: [1, text], description: [2, text], name: [3, text], in: [4, text] } })),
)

const document = message(() => ({
  fields: {
    openapi: [1, text],
    info: [2, message(() => ({ fields: { title: [1, text], version: [6, text] } }))],
    paths: [4, named(pathItem)],
    components: [
      5,
      message(() => ({ fields: { schemas: [1, named(schema)], securitySchemes: [7, named(securityScheme)] } })),
    ],
  },
}))

export const V3_PROTOBUF = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf'
export const encodeV3 = (value: JsonObject): Steps<readonly Uint8Array[]> => encodeForm(document, value)
