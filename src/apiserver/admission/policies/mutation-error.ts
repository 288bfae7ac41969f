/** A mutation that cannot be made: the policy's fault, which its failure policy judges. */
export class MutationError extends Error {}

/** A kind as Go prints it: `apps/v1, Kind=Deployment`. */
export function printKind({ group, version, kind }: { group: string; version: string; kind: string }): string {
  return `${group}/${version}, Kind=${kind}`
}
