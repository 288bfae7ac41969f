/** What was played to a real cluster, by name. */
import { attacher, change, claim, driver, inUse, make, node, phase, pod, remove, step, volume, wait } from './forms.ts'
import type { Act, Scenario } from './scenario.ts'

const begin = (...acts: readonly Act[]) => wait(4000, ...make(driver(), node('n1'), node('n2')), ...acts)
const gone = (name: string) => remove('pods', name)
const rwx = 'ReadWriteMany'
const taint = (nodeName: string) =>
  change('nodes', nodeName, {
    spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' }] },
  })
const nfs = { nfs: { server: 's', path: '/p' } }

export const scenarios: Readonly<Record<string, Scenario>> = {
  'attached and detached': [
    begin(...make(...volume('v'))),
    step(...make(pod('p', 'n1', 'v'))),
    step(attacher.takes('v', 'n1'), attacher.attached('v', 'n1')),
    step(inUse('n1', 'v')),
    step(gone('p')),
    step(inUse('n1')),
    step(attacher.leaves('v', 'n1')),
  ],
  'gone before it was attached': [
    begin(...make(...volume('v'))),
    step(...make(pod('p', 'n1', 'v'))),
    step(attacher.takes('v', 'n1')),
    step(gone('p')),
    step(attacher.attached('v', 'n1')),
    step(attacher.leaves('v', 'n1')),
  ],
  'back before it was detached': [
    begin(...make(...volume('v'))),
    step(...make(pod('p', 'n1', 'v'))),
    step(attacher.takes('v', 'n1'), attacher.attached('v', 'n1'), inUse('n1', 'v')),
    step(gone('p')),
    step(...make(pod('q', 'n1', 'v'))),
    step(inUse('n1')),
    step(gone('q')),
    step(attacher.leaves('v', 'n1')),
  ],
  'several pods of one node': [
    begin(...make(...volume('v'))),
    step(...make(pod('p', 'n1', 'v'))),
    step(attacher.attached('v', 'n1')),
    step(...make(pod('q', 'n1', 'v'))),
    step(gone('p')),
    step(gone('q')),
  ],
  'several volumes of one pod': [
    begin(...make(...volume('v'), ...volume('w'), ...volume('x', rwx))),
    step(...make(pod('p', 'n1', 'v', 'w', 'x'))),
    wait(1500, attacher.attached('v', 'n1')),
    wait(1500, attacher.attached('w', 'n1')),
    step(attacher.attached('x', 'n1', { attachmentMetadata: { devicePath: '/dev/x', other: 'y' } })),
    step(gone('p')),
  ],
  'one volume on two nodes': [
    begin(...make(...volume('v'))),
    step(...make(pod('p', 'n1', 'v'))),
    step(attacher.attached('v', 'n1')),
    step(...make(pod('q', 'n2', 'v'))),
    step(...make(pod('r', 'n2', 'v'))),
    step(gone('p')),
    step(attacher.attached('v', 'n2')),
    step(gone('q')),
    step(gone('r')),
  ],
  'wanted while it is being detached elsewhere': [
    begin(...make(...volume('v'))),
    step(...make(pod('p', 'n1', 'v'))),
    step(attacher.takes('v', 'n1'), attacher.attached('v', 'n1')),
    step(gone('p')),
    step(...make(pod('q', 'n2', 'v'))),
    step(attacher.leaves('v', 'n1')),
    step(attacher.attached('v', 'n2')),
  ],
  'wanted again while it is being detached': [
    begin(...make(...volume('v'))),
    step(...make(pod('p', 'n1', 'v'))),
    step(attacher.takes('v', 'n1'), attacher.attached('v', 'n1')),
    step(gone('p')),
    step(...make(pod('q', 'n1', 'v'))),
    step(attacher.leaves('v', 'n1')),
    step(attacher.attached('v', 'n1')),
  ],
  'wanted by two nodes at once': [
    begin(...make(...volume('v'))),
    step(...make(pod('p', 'n1', 'v'))),
    step(...make(pod('q', 'n2', 'v'))),
    step(attacher.attached('v', 'n1')),
    step(gone('p')),
  ],
  'a volume of many': [
    begin(...make(...volume('v', rwx))),
    step(...make(pod('p', 'n1', 'v'))),
    step(attacher.attached('v', 'n1')),
    step(...make(pod('q', 'n2', 'v'))),
    step(attacher.attached('v', 'n2')),
    step(gone('p')),
    step(gone('q')),
  ],
  'attaching fails': [
    begin(...make(...volume('v'))),
    step(...make(pod('p', 'n1', 'v'))),
    wait(4000, attacher.failed('v', 'n1', 'rpc error: no room')),
    wait(9000, attacher.attached('v', 'n1', { attachError: null })),
    step(gone('p')),
  ],
  'detaching fails': [
    begin(...make(...volume('v'))),
    step(...make(pod('p', 'n1', 'v'))),
    step(attacher.takes('v', 'n1'), attacher.attached('v', 'n1')),
    step(gone('p')),
    wait(6000, attacher.notDetached('v', 'n1', 'rpc error: busy')),
    wait(9000, attacher.leaves('v', 'n1')),
  ],
  'a pod that has ended': [
    begin(...make(...volume('v'))),
    step(...make(pod('p', 'n1', 'v'))),
    step(phase('p', 'Running'), attacher.attached('v', 'n1')),
    step(phase('p', 'Succeeded')),
    step(gone('p')),
  ],
  'a claim that is bound later': [
    begin(...make(claim('v'))),
    step(...make(pod('p', 'n1', 'v'))),
    wait(20_000, ...make(...volume('v').slice(0, 1))),
    step(attacher.attached('v', 'n1')),
  ],
  'a node out of service': [
    begin(...make(...volume('v'))),
    step(...make(pod('p', 'n1', 'v'))),
    step(attacher.attached('v', 'n1'), inUse('n1', 'v')),
    step(gone('p')),
    step(taint('n1')),
  ],
  'volumes of other kinds': [
    begin(
      ...make(
        ...volume('nfs', rwx, nfs),
        ...volume('iscsi', 'ReadWriteOnce', { iscsi: { targetPortal: '1.2.3.4', iqn: 'iqn.2000-01.a:b', lun: 1 } }),
        ...volume('fc', 'ReadWriteOnce', { fc: { wwids: ['w'] } }),
        ...volume('flex', 'ReadWriteOnce', { flexVolume: { driver: 'example.com/flex' } }),
      ),
    ),
    step(...make(...['nfs', 'iscsi', 'fc', 'flex'].map((name) => pod(name, 'n1', name)))),
    step(...make(pod('other', 'n2', 'iscsi'))),
    wait(5000, ...['iscsi', 'fc'].map(gone)),
  ],
  'started again': [
    begin(...make(...volume('v'), ...volume('w'), ...volume('x', rwx))),
    step(...make(pod('p', 'n1', 'v', 'x'), pod('q', 'n1', 'w'))),
    step(attacher.attached('v', 'n1'), attacher.attached('w', 'n1')),
    step({ controllers: 'stop' }, gone('q')),
    wait(12_000, { controllers: 'start' }),
    step(attacher.attached('x', 'n1')),
    step(gone('p')),
  ],
}
