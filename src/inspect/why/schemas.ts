/**
 * Whether an update would pass the rules of its kind as they are now, by which it is judged anew where it changes something: a custom
 * resource's by the schema of its definition, a built-in kind's by those of skiff's own API server.
 */
import { invalidError } from '../../api/errors/field-errors.ts'
import type { CustomResourceDefinition } from '../../api/generated/types.ts'
import { type JSONSchemaProps, structuralOf } from '../../api/schema/structural/structural.ts'
import { customProblems } from '../../api/validation/custom-values.ts'
import { isWhole } from './expressions.ts'
import { isKubernetes } from './failures.ts'
import { type Link, lastLink } from './finding.ts'
import { DEFINITIONS, foundOf, type Look } from './look.ts'
import type { WriteRequest } from './rules.ts'

/** What the schema says against an update; all of it is inferred. */
export async function schemaLinks({ reader, now }: Look, write: WriteRequest): Promise<readonly Link[]> {
  const { ref, object, oldObject, operation } = write
  const { group, resource, version, kind, name } = ref
  if (object === undefined || oldObject === undefined || !isWhole(write)) return []
  const refused = (message: string): readonly Link[] => [
    lastLink('refused', { kind: 'admission-refuses', by: 'server', name: '', operation, message }, true),
  ]
  if (isKubernetes(group)) {
    const { refusalOfUpdate } = await import('../../cluster/judged-update.ts')
    const refusal = await refusalOfUpdate(object, oldObject, now)
    return refusal === undefined ? [] : refused(refusal.message)
  }
  const definition = foundOf(await reader.get<CustomResourceDefinition>(DEFINITIONS, '', `${resource}.${group}`))
  const schema = definition?.spec.versions.find((one) => one.name === version)?.schema?.openAPIV3Schema
  if (schema === undefined) return []
  const errors = customProblems(object, oldObject, structuralOf(schema as JSONSchemaProps))
  if (errors.length === 0) return []
  return refused(invalidError({ group, kind }, name, errors).message)
}
