/** ResourceClaim and ResourceClaimTemplate. */
import type { ResourceClaimTemplate, ResourceV1ResourceClaim } from '../../api/generated/types.ts'
import * as status from '../../api/validation/claim-status.ts'
import * as devices from '../../api/validation/devices.ts'
import type { Strategy } from '../registry/strategy.ts'
import { JUDGES_GENERATE_NAME_FIRST } from './common.ts'
import { kind } from './kind.ts'

const claims = kind<ResourceV1ResourceClaim>({
  validate: devices.validateResourceClaim,
  validateUpdate: () => [],
  status: {},
  statusAlone: true,
})

/** What drivers told of devices goes with their allocation. */
function withoutFreedDevices(claim: ResourceV1ResourceClaim, old: ResourceV1ResourceClaim): ResourceV1ResourceClaim {
  const { devices: told, ...rest } = claim.status ?? {}
  const isFreed = old.status?.allocation !== undefined && claim.status?.allocation === undefined
  return told !== undefined && isFreed ? { ...claim, status: rest } : claim
}

export const resourceClaims: Strategy<ResourceV1ResourceClaim> = {
  ...JUDGES_GENERATE_NAME_FIRST,
  returnDeletedObject: true,
  ...claims,
  validateAccess: (claim, { namespaceLabels }) => status.validateRequestedAccess(claim.spec ?? {}, namespaceLabels),
  status: {
    ...claims.status,
    prepareForUpdate(claim, old, context) {
      const kept = (claims.status?.prepareForUpdate?.(claim, old, context) ?? claim) as ResourceV1ResourceClaim
      return withoutFreedDevices(kept, old)
    },
    validateUpdate: (claim, old, context) => [
      ...status.validateGrantedAccess(claim, old, context.namespaceLabels),
      ...status.validateResourceClaimStatus(claim, old),
    ],
  },
}

export const resourceClaimTemplates: Strategy<ResourceClaimTemplate> = {
  ...JUDGES_GENERATE_NAME_FIRST,
  returnDeletedObject: true,
  ...kind<ResourceClaimTemplate>({
    validate: devices.validateResourceClaimTemplate,
    validateUpdate: devices.validateResourceClaimTemplateUpdate,
  }),
  validateAccess: (template, { namespaceLabels }) =>
    status.validateRequestedAccess(template.spec?.spec ?? {}, namespaceLabels),
}
