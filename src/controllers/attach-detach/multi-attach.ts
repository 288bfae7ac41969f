/** What the pods of a node are told when their volume, which is for one node alone, is attached to another. */
import type { Pod } from '../../api/generated/types.ts'

/** `users`: the pods that have it; those of other namespaces are counted, not named. */
export function multiAttachMessage(volume: string, namespace: string, users: readonly Pod[]): string {
  const begin = `Waiting for detach for volume "${volume}" `
  if (users.length === 0)
    return `${begin}Volume is already exclusively attached to one node and can't be attached to another`
  const own = users.filter((pod) => pod.metadata.namespace === namespace).map((pod) => pod.metadata.name ?? '')
  const others = users.length - own.length
  if (own.length === 0) return `${begin}Volume is already used by ${others} pod(s) in different namespaces`
  const names = own.sort().join(', ')
  return others === 0
    ? `${begin}Volume is already used by pod(s) ${names}`
    : `${begin}Volume is already used by pod(s) ${names} and ${others} pod(s) in different namespaces`
}
