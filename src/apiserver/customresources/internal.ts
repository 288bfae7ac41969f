/** Versions of a definition as error texts show them: in Kubernetes' internal form, all fields by their Go names. */
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
} from '../../api/generated/types.ts'
import type { Json } from '../../api/object.ts'
import { internalSchema } from '../../api/schema/structural/internal-schema.ts'

export function internalVersions(
  versions: readonly CustomResourceDefinitionVersion[],
  shared: { schema: boolean; subresources: boolean; columns: boolean; selectable: boolean },
): readonly Json[] {
  return versions.map((version) => ({
    Name: version.name ?? '',
    Served: version.served ?? false,
    Storage: version.storage ?? false,
    Deprecated: version.deprecated ?? false,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema:
      shared.schema || version.schema === undefined
        ? null
        : {
            OpenAPIV3Schema: version.schema.openAPIV3Schema ? internalSchema(version.schema.openAPIV3Schema) : null,
          },
    Subresources: shared.subresources ? null : internalSubresources(version.subresources),
    AdditionalPrinterColumns: shared.columns ? null : internalColumns(version.additionalPrinterColumns),
    SelectableFields: shared.selectable
      ? null
      : (version.selectableFields?.map((field) => ({
          JSONPath: field.jsonPath ?? '',
        })) ?? null),
  }))
}

function internalSubresources(subresources: CustomResourceSubresources | undefined): Json {
  if (subresources === undefined) return null
  const { status, scale } = subresources
  return {
    Status: status === undefined ? null : {},
    Scale:
      scale === undefined
        ? null
        : {
            SpecReplicasPath: scale.specReplicasPath ?? '',
            StatusReplicasPath: scale.statusReplicasPath ?? '',
            LabelSelectorPath: scale.labelSelectorPath ?? null,
          },
  }
}

function internalColumns(columns: readonly CustomResourceColumnDefinition[] | undefined): Json {
  if (columns === undefined) return null
  return columns.map((column) => ({
    Name: column.name ?? '',
    Type: column.type ?? '',
    Format: column.format ?? '',
    Description: column.description ?? '',
    Priority: column.priority ?? 0,
    JSONPath: column.jsonPath ?? '',
  }))
}
