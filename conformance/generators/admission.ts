/**
 * What the admission plugins do: limit ranges, quotas, pod security, certificate requests, nodes that write what is not
 * theirs, volumes that grow. Each case makes the state a plugin looks at, then asks for things it allows, changes or refuses.
 */
import type { Case } from '../recording.ts'
import { claims } from './admission-claims.ts'
import { limitRanges, quotas } from './admission-limits.ts'
import { nodeRestrictions } from './admission-nodes.ts'
import { podSecurity } from './admission-pod-security.ts'
import { certificateRequests } from './certificate-requests.ts'
import type { Chance } from './random.ts'

export function admissionCases(rand: Chance, count: number): readonly Case[] {
  const makers = [limitRanges, quotas, quotas, podSecurity, podSecurity, podSecurity]
  return [
    ...certificateRequests(),
    ...nodeRestrictions(),
    ...claims(),
    ...Array.from({ length: count }, (_, i) => makers[i % makers.length]!(rand, i)),
  ]
}
