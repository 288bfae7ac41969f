/** Writes that are refused on the way to an object's end: by webhooks that run, by policies that ask which user it is, by the schema. */
import type { Fields } from '../../../src/api/object.ts'
import { AUTHORITY } from '../../authority.ts'
import { configMap, operator, type Stage } from '../stage.ts'
import { type Case, inForce, LATER, ownerOf } from './case.ts'
import { stuck } from './other-software.ts'
import { hookConfig, hookServer, policy, settle } from './servers-that-judge.ts'

/** Until a delete that is tried is refused. */
async function inForceOnDelete(stage: Stage, object: Fields) {
  for (let times = 0; times < 1000; times++) {
    const tried = stage.of(object).delete(object['metadata'].name, { dryRun: ['All'] } as never)
    const isRefused = await tried.then(
      () => false,
      () => true,
    )
    if (isRefused) return
  }
  throw new Error('the webhook did not come into force')
}

export const judgedWrites: Readonly<Record<string, Case>> = {
  'webhook refuses': {
    title:
      'a webhook that runs refuses that the finalizer is taken off, in its own words (rancher 42999, chaos-mesh 1994)',
    async setUp(stage, ns) {
      const { question, object } = await stuck(stage, {
        group: 'w1.test',
        kind: 'Project',
        namespace: ns,
        finalizer: 'w1.test/cleanup',
      })
      await operator(stage, 'w1-operator', 'w1.test')
      const s = await hookServer((r) =>
        r['operation'] === 'UPDATE'
          ? { allowed: false, status: { code: 400, message: 'cluster c-abc12 not found' } }
          : { allowed: true },
      )
      const h = hookConfig(
        'ValidatingWebhookConfiguration',
        'w1',
        { operations: ['UPDATE'], apiGroups: ['w1.test'], resources: ['*'] },
        { clientConfig: s.clientConfig },
      )
      await stage.make(h)
      await settle(stage, object)
      return { ...question, remove: [h], undo: s.close }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /webhook w1\.acme\.test/,
    sentence: /cluster c-abc12 not found/,
  },
  'webhook puts back': {
    title: 'a webhook that mutates puts the finalizer back (kubewarden 100)',
    async setUp(stage, ns) {
      const { question, object } = await stuck(stage, {
        group: 'w2.test',
        kind: 'Policy2',
        namespace: ns,
        finalizer: 'w2.test/keep',
      })
      const s = await hookServer((r) => ({
        allowed: true,
        patchType: 'JSONPatch',
        patch: Buffer.from(
          JSON.stringify(
            r['object'].metadata.finalizers
              ? []
              : [{ op: 'add', path: '/metadata/finalizers', value: ['w2.test/keep'] }],
          ),
        ).toString('base64'),
      }))
      const h = hookConfig(
        'MutatingWebhookConfiguration',
        'w2',
        { operations: ['UPDATE'], apiGroups: ['w2.test'], resources: ['*'] },
        { clientConfig: s.clientConfig },
      )
      await stage.make(h)
      await inForce(stage, object, async (answer) => ((await answer).metadata.finalizers ?? []).length > 0)
      return { ...question, remove: [h], undo: s.close }
    },
    verdict: 'refused',
    cause: 'put-back',
    responsible: /webhook w2/,
  },
  'webhook certificate': {
    title: 'the certificate of a webhook is no longer trusted',
    async setUp(stage, ns) {
      const { question, object } = await stuck(stage, {
        group: 'w3.test',
        kind: 'Thing3',
        namespace: ns,
        finalizer: 'w3.test/cleanup',
      })
      await operator(stage, 'w3-operator', 'w3.test')
      const s = await hookServer(() => ({ allowed: true }))
      const h = hookConfig(
        'ValidatingWebhookConfiguration',
        'w3',
        { operations: ['UPDATE'], apiGroups: ['w3.test'], resources: ['*'] },
        { clientConfig: { ...s.clientConfig, caBundle: Buffer.from(AUTHORITY).toString('base64') } },
      )
      await stage.make(h)
      await settle(stage, object)
      return { ...question, remove: [h], undo: s.close }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /webhook w3/,
    sentence: /x509|certificate/,
  },
  schema: {
    title: 'a rule for the whole object was added to the schema, which the object breaks',
    async setUp(stage, ns) {
      const { question } = await stuck(stage, {
        group: 's4.test',
        kind: 'Shape',
        namespace: ns,
        finalizer: 's4.test/cleanup',
        spec: { size: 1 },
      })
      await operator(stage, 's4-operator', 's4.test')
      const crd = {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'shapes.s4.test' },
      }
      await stage.of(crd).patch('shapes.s4.test', 'json', [
        {
          op: 'replace',
          path: '/spec/versions/0/schema/openAPIV3Schema',
          value: {
            type: 'object',
            required: ['spec'],
            'x-kubernetes-validations': [{ rule: 'self.spec.size >= 3', message: 'size must be at least 3' }],
            properties: { spec: { type: 'object', required: ['size'], properties: { size: { type: 'integer' } } } },
          },
        },
      ])
      await settle(stage, { apiVersion: 's4.test/v1', kind: 'Shape', metadata: { name: 'x', namespace: ns } })
      return question
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /API server/,
    sentence: /size must be at least 3/,
  },
  'webhook url': {
    title: 'a webhook outside of the cluster does not answer',
    async setUp(stage, ns) {
      const { question, object } = await stuck(stage, {
        group: 'u33.test',
        kind: 'Thing33',
        namespace: ns,
        finalizer: 'u33.test/f',
      })
      await operator(stage, 'u33-operator', 'u33.test')
      const h = hookConfig(
        'ValidatingWebhookConfiguration',
        'u33',
        { operations: ['UPDATE'], apiGroups: ['u33.test'], resources: ['*'] },
        { clientConfig: { url: 'https://127.0.0.1:1/x' } },
      )
      await stage.make(h)
      await settle(stage, object)
      return { ...question, remove: [h] }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /u33/,
    sentence: /refused/,
  },
  'webhook collector': {
    title: 'a webhook refuses the delete of a dependent to the garbage collector, and nothing else tells of it',
    async setUp(stage, ns) {
      const s = await hookServer((r) => ({
        allowed: r['oldObject']?.metadata?.name !== 'dep34',
        status: { code: 403, message: 'dep34 is in use by 1 Usage' },
      }))
      const h = hookConfig(
        'ValidatingWebhookConfiguration',
        'w34',
        { operations: ['DELETE'], apiGroups: [''], resources: ['configmaps'] },
        { clientConfig: s.clientConfig, namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': ns } } },
      )
      const o = configMap(ns, 'owner')
      const [made] = await stage.make(o)
      await stage.make(configMap(ns, 'dep34', ownerOf(o, made?.metadata.uid ?? '', { blockOwnerDeletion: true })), h)
      await inForceOnDelete(stage, configMap(ns, 'dep34'))
      await stage.remove(o, { propagationPolicy: 'Foreground' })
      await stage.until(o, ({ metadata }) => metadata.deletionTimestamp !== undefined)
      return { kind: 'cm', name: 'owner', remove: [h], undo: s.close, later: LATER }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /w34/,
  },
  'policy orphan': {
    title: 'a policy refuses the update that orphans a dependent',
    async setUp(stage, ns) {
      const o = configMap(ns, 'owner')
      const [made] = await stage.make(o)
      const dep = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'dep', namespace: ns, ...ownerOf(o, made?.metadata.uid ?? '') },
      }
      const [p, b] = policy(
        'p35',
        { apiGroups: [''], operations: ['UPDATE'], resources: ['secrets'] },
        {
          matchConditions: [{ name: 'n', expression: `object.metadata.namespace == '${ns}'` }],
          validations: [{ expression: 'false', message: 'secrets are sealed' }],
        },
      )
      await stage.make(dep, p, b)
      await settle(stage, dep)
      await stage.remove(o, { propagationPolicy: 'Orphan' })
      return { kind: 'cm', name: 'owner', remove: [b, p] }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /p35/,
    sentence: /sealed/,
  },
  'policy gone': {
    title: 'a policy lets only the operator take its finalizer off, and the operator is gone (deckhouse 21217)',
    async setUp(stage, ns) {
      const { question, object } = await stuck(stage, {
        group: 'dh36.test',
        kind: 'Module',
        namespace: ns,
        finalizer: 'dh36.test/protect',
      })
      const [p, b] = policy(
        'p36',
        { apiGroups: ['dh36.test'], operations: ['UPDATE'], resources: ['*'] },
        {
          validations: [
            {
              expression:
                "request.userInfo.username.startsWith('system:serviceaccount:d8-') || (has(object.metadata.finalizers) && 'dh36.test/protect' in object.metadata.finalizers)",
              message: 'Removing finalizers is forbidden',
            },
          ],
        },
      )
      await stage.make(p, b)
      await settle(stage, object)
      return { ...question, remove: [b, p] }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /dh36/,
  },
  'policy account': {
    title: 'a policy accepts the update from administrators, and not from the operator',
    async setUp(stage, ns) {
      const { question } = await stuck(stage, {
        group: 'mo43.test',
        kind: 'Master',
        namespace: ns,
        finalizer: 'mo43.test/protect',
      })
      await operator(stage, 'mo43-operator', 'mo43.test')
      const [p, b] = policy(
        'p43',
        { apiGroups: ['mo43.test'], operations: ['UPDATE'], resources: ['*'] },
        { validations: [{ expression: "'system:masters' in request.userInfo.groups", message: 'only masters' }] },
      )
      await stage.make(p, b)
      return { ...question, remove: [b, p] }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /p43/,
    sentence: /only masters/,
  },
}
