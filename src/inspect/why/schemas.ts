/** Whether a custom resource would pass the schema of its definition as that is now: an update is judged anew where it changes something. */
import type { CustomResourceDefinition } from '../../api/generated/types.ts'
import { type JSONSchemaProps, structuralOf } from '../../api/schema/structural/structural.ts'
import { customProblems } from '../../api/validation/custom-values.ts'
import { invalidError } from '../../api/validation/errors.ts'
import { isWhole } from './expressions.ts'
import { isKubernetes } from './failures.ts'
import { type Link, lastLink } from './finding.ts'
import { DEFINITIONS, foundOf, type Look } from './look.ts'
import type { WriteRequest } from './rules.ts'

/** What the schema says against an update; all of it is inferred. */
export async function schemaLinks({ reader }: Look, write: WriteRequest): Promise<readonly Link[]> {
  const { ref, object, oldObject, operation } = write
  const { group, resource, version, kind, name } = ref
  if (isKubernetes(group) || object === undefined || oldObject === undefined || !isWhole(write)) return []
  const definition = foundOf(await reader.get<CustomResourceDefinition>(DEFINITIONS, '', `${resource}.${group}`))
  const schema = definition?.spec.versions.find((one) => one.name === version)?.schema?.openAPIV3Schema
  if (schema === undefined) return []
  const errors = customProblems(object, oldObject, structuralOf(schema as JSONSchemaProps))
  if (errors.length === 0) return []
  const { message } = invalidError({ group, kind }, name, errors)
  return [lastLink('refused', { kind: 'admission-refuses', by: 'server', name: '', operation, message }, true)]
}
