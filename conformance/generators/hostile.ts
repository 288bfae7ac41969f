/** What attackers and broken clients send, as cases: a fixed list, asked of Kubernetes once and of skiff in every test run. */
import type { Case } from '../recording.ts'
import { hostileBodies } from './hostile-bodies.ts'
import { hostileKinds } from './hostile-kinds.ts'
import { hostileRequests } from './hostile-requests.ts'

export function hostile(): readonly Case[] {
  return [...hostileRequests(), ...hostileBodies(), ...hostileKinds()].map(([name, steps]) => {
    const namespaced = steps.some((step) => JSON.stringify(step).includes('$NS'))
    return { name, ...(namespaced ? {} : { ns: false }), steps }
  })
}
