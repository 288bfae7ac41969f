import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldError } from '../errors/field-errors.ts'
import { CONFIG_MIRROR } from '../objects/mirror-pods.ts'
import {
  validateAnnotationsMatchFields,
  validatePodAnnotations,
  validatePodAnnotationsUpdate,
} from './pod-annotations.ts'

const APPARMOR = 'container.apparmor.security.beta.kubernetes.io/c'
const SECCOMP = 'seccomp.security.alpha.kubernetes.io/pod'
const TOLERATIONS = 'scheduler.alpha.kubernetes.io/tolerations'
const spec = { containers: [{ name: 'c', image: 'i' }] }
const toldBy = (ask: (errors: FieldError[]) => void): readonly string[] => {
  const errors: FieldError[] = []
  ask(errors)
  return errors.map(({ field, message }) => `${field}: ${message}`)
}
const judged = (annotations: Readonly<Record<string, string>>, more: object = {}) =>
  toldBy((errors) => validatePodAnnotations(annotations, { ...spec, ...more }, 'a', errors))

test('a mirror pod names its node', () => {
  assert.deepEqual(judged({ [CONFIG_MIRROR]: '' }), [
    `a[${CONFIG_MIRROR}]: Invalid value: "": must set spec.nodeName if mirror pod annotation is set`,
  ])
  assert.deepEqual(judged({ [CONFIG_MIRROR]: '' }, { nodeName: 'n' }), [])
})

test('the mark of a mirror pod and AppArmor profiles are neither added, changed nor removed later', () => {
  const changed = (now: Readonly<Record<string, string>>, before: Readonly<Record<string, string>>) =>
    toldBy((errors) => validatePodAnnotationsUpdate(now, before, 'a', errors))
  assert.deepEqual(changed({ [CONFIG_MIRROR]: 'y' }, { [CONFIG_MIRROR]: 'x', [APPARMOR]: 'unconfined' }), [
    `a[${CONFIG_MIRROR}]: Forbidden: may not remove or update mirror pod annotation`,
    `a[${APPARMOR}]: Forbidden: may not remove or update AppArmor annotations`,
  ])
  assert.deepEqual(changed({ [APPARMOR]: 'unconfined', other: 'x' }, {}), [
    `a[${APPARMOR}]: Forbidden: may not add AppArmor annotations`,
  ])
  assert.deepEqual(changed({ [CONFIG_MIRROR]: 'x', other: 'y' }, { [CONFIG_MIRROR]: 'x' }), [])
})

test('an AppArmor profile is of a container of the pod, and of a known form', () => {
  assert.deepEqual(judged({ [APPARMOR]: 'x', [`${APPARMOR}c`]: 'unconfined' }), [
    `a[${APPARMOR}]: Invalid value: "x": invalid AppArmor profile name: "x"`,
    `a[${APPARMOR}c]: Invalid value: "cc": container not found`,
  ])
})

test('tolerations in an annotation are read as Go reads them', () => {
  const told = (text: string) => judged({ [TOLERATIONS]: text })
  assert.deepEqual(told('[]x'), [`a: Invalid value: "${TOLERATIONS}": invalid character 'x' after top-level value`])
  assert.deepEqual(told('[{"key":1}]'), [
    `a: Invalid value: "${TOLERATIONS}": json: cannot unmarshal number into Go struct field Toleration.Key of type string`,
  ])
  assert.deepEqual(told('[{"Key":"a","operator":"Exists"}]'), [])
})

test('where an annotation and a field say something of the same, they say the same', () => {
  const matched = (annotations: Readonly<Record<string, string>>, context: object) =>
    toldBy((errors) => validateAnnotationsMatchFields(annotations, { ...spec, securityContext: context }, 's', errors))
  const named = (localhostProfile: string) => ({ seccompProfile: { type: 'Localhost', localhostProfile } })
  assert.deepEqual(matched({ [SECCOMP]: 'localhost/a' }, named('a')), [])
  assert.deepEqual(matched({ [SECCOMP]: 'localhost/a' }, named('b')), [
    's.securityContext.seccompProfile.localhostProfile: Forbidden: seccomp profile in annotation and field must match',
  ])
  // The pod's own profile is that of its containers.
  assert.deepEqual(matched({ [APPARMOR]: 'unconfined' }, { appArmorProfile: { type: 'RuntimeDefault' } }), [
    's.containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and field must match',
  ])
})
