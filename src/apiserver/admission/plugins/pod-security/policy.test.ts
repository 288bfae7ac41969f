import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkedPod, detailsOf, evaluatePod, type LevelVersion, policyOf, printLevel } from './policy.ts'

const latest = (level: LevelVersion['level']): LevelVersion => ({ level, minor: Number.POSITIVE_INFINITY })
const pod = (spec: object) => checkedPod({ metadata: {}, spec: { containers: [{ name: 'c' }], ...spec } })
const found = (policy: LevelVersion, spec: object) => detailsOf(evaluatePod(policy, pod(spec)))

test('labels make a policy, and what is wrong in them is told', () => {
  const label = (mode: string) => `pod-security.kubernetes.io/${mode}`
  const { policy, errors } = policyOf({ [label('enforce')]: 'baseline', [label('enforce-version')]: 'v1.24' })
  assert.equal(printLevel(policy.enforce), 'baseline:v1.24')
  assert.deepEqual(errors, [])
  const wrong = policyOf({ [label('enforce')]: 'strict', [label('warn-version')]: '1.25' })
  assert.equal(wrong.policy.enforce.level, 'restricted')
  assert.deepEqual(
    wrong.errors.map(({ field }) => field),
    ['metadata.labels[pod-security.kubernetes.io/enforce]', 'metadata.labels[pod-security.kubernetes.io/warn-version]'],
  )
})

test('the restricted level names what a bare pod lacks', () => {
  assert.equal(
    found(latest('restricted'), {}),
    'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), ' +
      'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), ' +
      'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), ' +
      'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  )
  assert.equal(found(latest('baseline'), {}), '')
})

test('checks come and go with versions', () => {
  const probing = { containers: [{ name: 'c', livenessProbe: { httpGet: { host: 'h' } } }] }
  assert.equal(found({ level: 'baseline', minor: 33 }, probing), '')
  assert.match(found({ level: 'baseline', minor: 34 }, probing), /probe or lifecycle host/)
  const root = { hostUsers: false, securityContext: { runAsUser: 0 } }
  assert.match(found({ level: 'restricted', minor: 34 }, root), /runAsUser=0/)
  assert.doesNotMatch(found({ level: 'restricted', minor: 35 }, root), /runAsUser=0/)
})

test('a check of the restricted level takes the place of its baseline one', () => {
  const mounting = { volumes: [{ name: 'v', hostPath: { path: '/' } }] }
  assert.equal(found(latest('baseline'), mounting), 'hostPath volumes (volume "v")')
  assert.match(found(latest('restricted'), mounting), /volume "v" uses restricted volume type "hostPath"/)
  assert.doesNotMatch(found(latest('restricted'), mounting), /hostPath volumes/)
})
