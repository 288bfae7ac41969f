/**
 * Which images a pod may use because they are on the machine (KEP-2535, `imagePullCredentialsVerificationPolicy` of KubeletConfiguration),
 * and of which it has to show that it could pull them.
 */
import { taggedName } from '../runtimes/image-names.ts'
import { badImageName } from './image-reference.ts'

export const VERIFICATION_POLICIES = [
  'NeverVerify',
  'NeverVerifyPreloadedImages',
  'NeverVerifyAllowlistedImages',
  'AlwaysVerify',
] as const

export interface PullVerification {
  readonly policy: (typeof VERIFICATION_POLICIES)[number]
  /** Of NeverVerifyAllowlistedImages (preloadedImagesVerificationAllowlist): names without tag or digest as pods write them, or all below `a/b/*`. */
  readonly allowlist: readonly string[]
}

export const DEFAULT_VERIFICATION: PullVerification = { policy: 'NeverVerifyPreloadedImages', allowlist: [] }

/** `isPulled`: this kubelet pulled it, or may have. */
export function mustVerify({ policy, allowlist }: PullVerification, image: string, isPulled: boolean): boolean {
  switch (policy) {
    case 'NeverVerify':
      return false
    case 'NeverVerifyPreloadedImages':
      return isPulled
    case 'NeverVerifyAllowlistedImages':
      return !allowlist.some((pattern) => isNamedBy(pattern, repositoryOf(image)))
    case 'AlwaysVerify':
      return true
  }
}

const isNamedBy = (pattern: string, repository: string): boolean =>
  pattern.endsWith('/*') ? repository.startsWith(pattern.slice(0, -1)) : pattern === repository

/** An image's name without tag and digest. */
export function repositoryOf(image: string): string {
  const tagged = taggedName(image)
  const [named = ''] = tagged.split('@', 1)
  const colon = named.lastIndexOf(':')
  return colon > named.lastIndexOf('/') ? named.slice(0, colon) : named
}

/** Why the pattern is none, in a kubelet's words. */
export function badPattern(pattern: string): string | undefined {
  if (pattern.trim() !== pattern) return `leading/trailing spaces are not allowed: ${pattern}`
  const isWildcard = pattern.endsWith('/*')
  if (pattern.slice(0, isWildcard ? -1 : undefined).includes('*'))
    return `not a valid wildcard pattern, only patterns ending with '/*' are allowed: ${pattern}`
  if (isWildcard) return pattern === '/*' ? 'at least registry hostname is required' : undefined
  const bad = badImageName(pattern)
  if (bad?.endsWith('must be lowercase')) return 'failed to parse as an image name: repository name must be lowercase'
  if (bad !== undefined) return `failed to parse as an image name: ${bad}`
  return repositoryOf(pattern) === pattern
    ? undefined
    : `neither tag nor digest is accepted in an image reference: ${pattern}`
}
