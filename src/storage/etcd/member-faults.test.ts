import assert from 'node:assert/strict'
import { test } from 'node:test'
import { status } from '@grpc/grpc-js'
import { EtcdError } from './errors.ts'
import { MAKE_ROOM, memberFaults } from './member-faults.ts'

/** As a member of etcd 3.4 or 3.7 answers. */
const answering = (address: string, member_id: number, errors: readonly string[]) => ({
  address,
  state: {
    header: { cluster_id: 1, member_id, revision: 9 },
    version: '3.7.3',
    dbSize: 1,
    leader: 1,
    errors,
  },
})

test('members that are well have nothing to tell', () => {
  assert.deepEqual(memberFaults([answering('a:2379', 10, []), answering('b:2379', 11, [])]), [])
})

test('an alarm that all members tell of is told once, with the member that raised it, and those that do not answer behind it', () => {
  const alarms = ['memberID:10 alarm:NOSPACE ', 'memberID:170  alarm:CORRUPT']
  const away = new EtcdError('connect ECONNREFUSED c:2379', status.UNAVAILABLE, true, 'c:2379')
  assert.deepEqual(
    memberFaults([
      answering('a:2379', 10, alarms),
      answering('b:2379', 11, [...alarms, 'etcdserver: no leader']),
      { address: 'c:2379', state: away },
    ]),
    [
      `alarm NOSPACE of the member at a:2379: its database is as large as its quota, so no write is taken: ${MAKE_ROOM}`,
      'alarm CORRUPT of the member with the ID aa: it holds something else than the others: take it out (etcdctl member remove), empty its directory and add it anew, then etcdctl alarm disarm',
      'the member at b:2379 says: etcdserver: no leader: see whether most of the members run and reach one another',
      'the member at c:2379 does not answer (connect ECONNREFUSED c:2379): start it again, or look at its log',
    ],
  )
})
