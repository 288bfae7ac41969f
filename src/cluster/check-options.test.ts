import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkedUser, checkOptions } from './check-options.ts'
import { startCluster } from './cluster.ts'

/** What programs that no type checks may give, and what they are told. */
const REFUSED: readonly (readonly [options: unknown, told: string])[] = [
  [null, 'the options of a cluster must be an object, not null'],
  ['manual', 'the options of a cluster must be an object, not "manual"'],
  [[], 'the options of a cluster must be an object, not []'],
  [{ node: 3 }, 'there is no option "node": did you mean nodes?'],
  [{ datadir: '/tmp/x' }, 'there is no option "datadir": did you mean dataDir?'],
  [{ port: '8080' }, 'port must be a whole number from 0 to 65535, not "8080"'],
  [{ port: 70000 }, 'port must be a whole number from 0 to 65535, not 70000'],
  [{ nodes: Number.NaN }, 'nodes must be a whole number from 0 to 5000, not NaN'],
  [{ nodes: -1 }, 'nodes must be a whole number from 0 to 5000, not -1'],
  [{ seed: 1.5 }, 'seed must be a whole number from 0 to 9007199254740991, not 1.5'],
  [{ keepRequests: -1 }, 'keepRequests must be a whole number from 0 on, not -1'],
  [{ host: '' }, 'host must be a text that is not empty, not ""'],
  [{ clock: 'fake' }, `clock must be 'real' or 'manual', not "fake"`],
  [{ storage: 'disk' }, `storage must be 'lmdb' or 'memory', not "disk"`],
  [{ controls: 'fork' }, 'controls must be a list of controls, not "fork"'],
  [{ controls: ['clock'] }, `controls[0] must be 'snapshot' or 'fork' or 'faults', not "clock"`],
  [{ crds: 'config/crd' }, 'crds must be a list of files, folders and objects, not "config/crd"'],
  [{ port: [1n, 'a', [2]] }, 'port must be a whole number from 0 to 65535, not [1,"a",a list]'],
  [{ objects: [{}, null] }, 'objects[1] must be a file, a folder or an object, not null'],
  [{ from: {} }, 'from must be a snapshot, or the name of a file of one, not an object'],
  [{ faults: 'watch drop 5%' }, `faults must be a list such as ['watch drop 5%'], or an object, not "watch drop 5%"`],
  [{ faults: { 'watch drop': 5 } }, 'faults["watch drop"] must be a text, not 5'],
  [{ enableAdmissionPlugins: ['Nope'] }, 'enableAdmissionPlugins[0]: there is no admission plugin "Nope"'],
  [{ allowPrivileged: 'yes' }, 'allowPrivileged must be true or false, not "yes"'],
  [{ security: { auditLog: 'x' } }, 'security: there is no option "auditLog": did you mean auditLogPath?'],
  [{ simulation: { forward: 'x' } }, 'simulation.forward must be a list of texts, not "x"'],
  [{ etcd: {} }, 'etcd.servers is missing: URLs, separated by commas'],
  [{ onProgress: 'x' }, 'onProgress must be a function, not "x"'],
]

test('what startCluster cannot go by is refused with the option, what it must be and what it is', async () => {
  for (const [options, told] of REFUSED)
    await assert.rejects(startCluster(options as object), { name: 'StartError', message: told })
})

test('options that are undefined are not given', () => {
  checkOptions({ port: undefined, crds: undefined, faults: { 'watch drop': ['5%', 'first 1 on pods'] }, nodes: 0 })
})

test('a user without groups is in none, and one without a name is refused', () => {
  const named = (user: object) => checkedUser(user as Parameters<typeof checkedUser>[0])
  assert.deepEqual(named({ name: 'bob' }), { name: 'bob', groups: [] })
  const user = { name: 'bob', groups: ['dev'] }
  assert.equal(named(user), user)
  assert.throws(() => named({}), /a user is an object with a name, .*, not an object/)
  assert.throws(() => named({ name: 'bob', groups: 'dev' }), /groups must be a list of texts, not "dev"/)
})
