/** What a definition's author is warned of: formats that are not checked, sets of what cannot be compared. */
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '../../api/generated/types.ts'
import type { Given } from '../../api/object.ts'
import { formatCheck } from '../../api/schema/structural/formats.ts'
import type { JSONSchemaProps } from '../../api/schema/structural/structural.ts'

/** Texts, and what has no type, have those that are checked. */
const NUMBERS: Readonly<Record<string, readonly string[]>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
}

function isKnown(type: string, format: string): boolean {
  return type === 'string' || type === '' ? formatCheck(format) !== undefined : (NUMBERS[type] ?? []).includes(format)
}

export function definitionWarnings(definition: Given<CustomResourceDefinition>): readonly string[] {
  const warnings = new Set<string>()
  const versions: readonly CustomResourceDefinitionVersion[] = definition.spec?.versions ?? []
  for (const version of versions) {
    const schema: JSONSchemaProps | undefined = version.schema?.openAPIV3Schema
    if (schema !== undefined) walk(schema, warnings)
  }
  return [...warnings]
}

function walk(schema: JSONSchemaProps, warnings: Set<string>): void {
  const { type = '', format = '', items, additionalProperties: additional } = schema
  if (format !== '' && !isKnown(type, format)) warnings.add(`unrecognized format ${JSON.stringify(format)}`)
  const inner =
    typeof items === 'object' && items !== null && !Array.isArray(items) ? (items as JSONSchemaProps) : undefined
  if (schema['x-kubernetes-list-type'] === 'set' && (inner?.type === 'object' || inner?.type === 'array'))
    warnings.add(
      `x-kubernetes-list-type: set for items of type ${JSON.stringify(inner.type)} is not supported by server-side apply or CEL validation rules`,
    )
  if (inner !== undefined) walk(inner, warnings)
  for (const property of Object.values(schema.properties ?? {})) walk(property, warnings)
  if (typeof additional === 'object' && additional !== null) walk(additional, warnings)
}
