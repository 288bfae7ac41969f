import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { approvalOf, isProtectedGroup, withDefinitionCondition, withEstablished, withNames } from './name-conflicts.ts'
import { createNameTable } from './names-in-use.ts'

const NOW = '2026-01-01T00:00:00Z'
const LATER = '2026-01-01T00:00:09Z'

const definition = (plural: string, names: Fields = {}, more: Fields = {}): KubeObject =>
  ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.t.org`, uid: plural, ...more['metadata'] },
    spec: {
      group: more['group'] ?? 't.org',
      names: { plural, singular: `one-${plural}`, kind: `Kind${plural}`, listKind: `Kind${plural}List`, ...names },
    },
    ...(more['status'] === undefined ? {} : { status: more['status'] }),
  }) as KubeObject
const tableOf = (definitions: readonly KubeObject[]) => {
  const names = createNameTable()
  for (const definition of definitions) names.put(definition.metadata.name ?? '', definition)
  return names
}

/** As the loop leaves it: names judged, then established. */
const settled = (one: KubeObject, others: readonly KubeObject[] = []) =>
  withEstablished(withNames(one, tableOf([one, ...others]), NOW), NOW)
const conditions = (one: KubeObject) =>
  Object.fromEntries(
    (one['status'].conditions as Fields[]).map(({ type, status, reason, message }) => [
      type,
      [status, reason, message],
    ]),
  )

test('free names are accepted as they are, and the definition is established', () => {
  const one = settled(definition('as', { shortNames: ['a'], categories: ['all'] }))
  assert.deepEqual(one['status'].acceptedNames, {
    plural: 'as',
    singular: 'one-as',
    shortNames: ['a'],
    kind: 'Kindas',
    listKind: 'KindasList',
    categories: ['all'],
  })
  assert.deepEqual(conditions(one), {
    NamesAccepted: ['True', 'NoConflicts', 'no conflicts found'],
    Established: ['True', 'InitialNamesAccepted', 'the initial names have been accepted'],
  })
})

const taken: Readonly<Record<string, readonly [names: Fields, reason: string, message: string]>> = {
  'a plural': [{ plural: 'as' }, 'PluralConflict', '"as" is already in use'],
  'a singular': [{ singular: 'one-as' }, 'SingularConflict', '"one-as" is already in use'],
  'a singular that is a plural there': [{ singular: 'as' }, 'SingularConflict', '"as" is already in use'],
  'a kind': [{ kind: 'Kindas' }, 'KindConflict', '"Kindas" is already in use'],
  'a kind that is a list there': [{ kind: 'KindasList' }, 'KindConflict', '"KindasList" is already in use'],
  'a list kind': [{ listKind: 'KindasList' }, 'ListKindConflict', '"KindasList" is already in use'],
  'a short name': [{ shortNames: ['b', 'a'] }, 'ShortNamesConflict', '"a" is already in use'],
  'two short names': [
    { shortNames: ['a', 'one-as'] },
    'ShortNamesConflict',
    '["a" is already in use, "one-as" is already in use]',
  ],
}
for (const [what, [names, reason, message]] of Object.entries(taken))
  test(`${what} that another definition of the group has is not accepted`, () => {
    const other = settled(definition('as', { shortNames: ['a'] }))
    const one = settled(definition('bs', names), [other])
    assert.deepEqual(conditions(one), {
      NamesAccepted: ['False', reason, message],
      Established: ['False', 'NotAccepted', 'not all names are accepted'],
    })
  })

test('names of another group, and those that were only asked for, are free', () => {
  const elsewhere = settled(definition('as', {}, { group: 'u.org', metadata: { name: 'as.u.org' } }))
  const pending = definition('as')
  const one = settled({ ...definition('as'), metadata: { name: 'as.t.org', uid: 'another' } }, [elsewhere, pending])
  assert.equal(conditions(one)['Established']?.[0], 'True')
})

test('a name that is lost to another stays what it was, and what is established stays so', () => {
  const before = settled(definition('bs'))
  const other = settled(definition('as'))
  const changed = { ...before, spec: { ...before['spec'], names: { ...before['spec'].names, kind: 'Kindas' } } }
  const after = withNames(changed as KubeObject, tableOf([changed as KubeObject, other]), LATER)
  assert.equal(after['status'].acceptedNames.kind, 'Kindbs')
  assert.equal(conditions(after)['NamesAccepted']?.[1], 'KindConflict')
  assert.equal(conditions(after)['Established']?.[0], 'True')
})

test('what is as it should be stays the very object', () => {
  const one = settled(definition('as'))
  assert.equal(settled(one), one)
})

test('a definition that is being deleted is not established', () => {
  const named = withNames(definition('as', {}, { metadata: { deletionTimestamp: NOW } }), tableOf([]), NOW)
  assert.equal(withEstablished(named, NOW), named)
})

test("a condition's time is that of its status", () => {
  const condition = { type: 'X', status: 'True', reason: 'A', message: 'a' } as const
  const first = withDefinitionCondition(definition('as'), condition, NOW)
  assert.equal(withDefinitionCondition(first, condition, LATER), first)
  const timeOf = (one: KubeObject) => one['status'].conditions[0].lastTransitionTime
  assert.equal(timeOf(withDefinitionCondition(first, { ...condition, reason: 'B' }, LATER)), NOW)
  assert.equal(timeOf(withDefinitionCondition(first, { ...condition, status: 'False' }, LATER)), LATER)
})

test("groups of Kubernetes' own are protected, those that look like them are not", () => {
  for (const group of ['k8s.io', 'kubernetes.io', 'a.k8s.io', 'a.b.kubernetes.io']) assert.ok(isProtectedGroup(group))
  for (const group of ['xk8s.io', 'k8s.io.org', 'x.mykubernetes.io', 'x-k8s.io', ''])
    assert.ok(!isProtectedGroup(group))
})

test('an approval is a URL, or says that there is none', () => {
  for (const [annotation, read] of [
    [undefined, 'missing'],
    ['', 'missing'],
    ['unapproved, an experiment', 'bypassed'],
    ['https://github.com/kubernetes/enhancements/pull/1111', 'approved'],
    ['approved by me', 'invalid'],
    ['https://', 'invalid'],
    ['ftp://x/y', 'invalid'],
  ] as const)
    assert.equal(approvalOf(annotation), read, annotation)
})

test('a definition of a protected group says how it is approved', () => {
  const approved = (annotations: Fields) =>
    conditions(settled(definition('as', {}, { group: 'a.k8s.io', metadata: { annotations } })))[
      'KubernetesAPIApprovalPolicyConformant'
    ]?.slice(0, 2)
  assert.deepEqual(approved({ 'api-approved.kubernetes.io': 'https://x.org/1' }), ['True', 'ApprovedAnnotation'])
  assert.deepEqual(approved({ 'api-approved.kubernetes.io': 'unapproved' }), ['False', 'UnapprovedAnnotation'])
  assert.deepEqual(approved({ 'api-approved.kubernetes.io': 'yes' }), ['False', 'InvalidAnnotation'])
  assert.deepEqual(approved({}), ['False', 'MissingAnnotation'])
})
