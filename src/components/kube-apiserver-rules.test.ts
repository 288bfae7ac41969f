import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { patternError } from '../api/schema/structural/patterns.ts'
import { parseFlags } from './flags.ts'
import { KUBE_APISERVER_FLAGS } from './kube-apiserver-flags.ts'
import { judgeCommandLine } from './kube-apiserver-rules.ts'

/** A command line that is taken, flag by flag. */
const USUAL: Readonly<Record<string, string>> = {
  'etcd-servers': 'http://127.0.0.1:2379',
  'secure-port': '6443',
  'service-account-issuer': 'https://kubernetes.default.svc',
  'service-account-key-file': 'sa.pub',
  'service-account-signing-key-file': 'sa.key',
  'authorization-mode': 'Node,RBAC',
  'service-cluster-ip-range': '10.96.0.0/16',
  'enable-admission-plugins': 'NodeRestriction',
}

/** Of the usual command line with these flags besides, in place of their like, or (`!flag`) left out: what it is refused with. */
function refusal(changes: string): string {
  const args = changes.split(' ').filter((arg) => !arg.startsWith('!'))
  const without = changes.split(' ').map((arg) => arg.replace(/^(!|--)/, '').replace(/=.*/s, ''))
  const rest = Object.entries(USUAL).flatMap(([name, value]) => (without.includes(name) ? [] : [`--${name}=${value}`]))
  try {
    parseFlags('kube-apiserver', KUBE_APISERVER_FLAGS, [...rest, ...args], (values) =>
      judgeCommandLine(values, { needsStoreAndKeys: true, patternError }),
    )
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

// Each with what a kube-apiserver v1.37.1 said to it on 2026-11-27.
const ANSWERS: readonly [changes: string, refusal: string][] = JSON.parse(
  readFileSync(new URL('./refused-command-lines.json', import.meta.url), 'utf8'),
)

test('command lines are refused as kube-apiserver refuses them, all that is wrong in its order', () => {
  const differ = ANSWERS.filter(([changes, wanted]) => refusal(changes) !== wanted)
  assert.deepEqual(
    differ.map(([changes, wanted]) => ({ changes, wanted, found: refusal(changes) })),
    [],
  )
  assert.ok(ANSWERS.length > 150)
})

test('the usual command line is taken', () => {
  assert.equal(refusal('--v=1'), '')
})
