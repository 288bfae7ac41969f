/** What is wrong with the members of an etcd, in lines for those that run it, with what to do. */
import { EtcdError } from './errors.ts'
import type { MemberState } from './members.ts'

export const MAKE_ROOM = 'compact and defragment etcd, or give it more --quota-backend-bytes, then etcdctl alarm disarm'

/** An alarm as members tell of it, whichever of them raised it; how many spaces there are differs from one etcd to the next. */
const ALARM = /^memberID:(\d+)\s+alarm:(\w+)/

export function memberFaults(states: readonly MemberState[]): readonly string[] {
  const addresses = new Map(
    states.flatMap(({ address, state }) =>
      state instanceof EtcdError ? [] : [[state.header.member_id, address] as const],
    ),
  )
  const alarms = new Map<string, string>()
  const away: string[] = []
  for (const { address, state } of states) {
    if (state instanceof EtcdError) {
      away.push(`the member at ${address} does not answer (${state.message}): start it again, or look at its log`)
      continue
    }
    for (const error of state.errors) {
      const [, id, alarm] = ALARM.exec(error) ?? []
      if (id === undefined || alarm === undefined)
        away.push(
          `the member at ${address} says: ${error.trim()}: see whether most of the members run and reach one another`,
        )
      else alarms.set(`${id} ${alarm}`, alarmLine(addresses.get(Number(id)) ?? `ID ${BigInt(id).toString(16)}`, alarm))
    }
  }
  return [...alarms.values(), ...away]
}

function alarmLine(member: string, alarm: string): string {
  const of = `alarm ${alarm} of the member at ${member}`.replace('at ID', 'with the ID')
  if (alarm === 'NOSPACE') return `${of}: its database is as large as its quota, so no write is taken: ${MAKE_ROOM}`
  if (alarm === 'CORRUPT')
    return `${of}: it holds something else than the others: take it out (etcdctl member remove), empty its directory and add it anew, then etcdctl alarm disarm`
  return `${of}: etcdctl alarm list`
}
