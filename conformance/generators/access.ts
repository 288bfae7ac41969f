/** Who may do what under the roles of a fresh cluster, asked through SubjectAccessReviews. */
import type { Case } from '../recording.ts'
import type { CorpusEntry } from './mutations.ts'
import type { Chance } from './random.ts'

const controllers = [
  'generic-garbage-collector',
  'deployment-controller',
  'replicaset-controller',
  'namespace-controller',
  'node-controller',
  'job-controller',
  'pod-garbage-collector',
  'resourcequota-controller',
  'endpointslice-controller',
  'attachdetach-controller',
  'horizontal-pod-autoscaler',
  'service-account-controller',
]
const users = [
  'system:kube-scheduler',
  'system:kube-controller-manager',
  'system:node:n',
  'system:kube-proxy',
  'nobody',
  'system:anonymous',
  ...controllers.map((name) => `system:serviceaccount:kube-system:${name}`),
]
const groups = [
  undefined,
  'system:authenticated',
  'system:unauthenticated',
  'system:masters',
  'system:nodes',
  'system:serviceaccounts',
  'system:monitoring',
  'system:bootstrappers',
]
const verbs = 'get list watch create update patch delete deletecollection * impersonate escalate bind'.split(' ')
const paths = ['/healthz', '/metrics', '/version', '/apis', '/openapi/v3', '/livez/ping', '/logs', '/x']
const subresources = ['status', 'finalizers', 'binding', 'eviction', 'token', 'scale', 'log']

export function accessReviews(corpus: readonly CorpusEntry[], rand: Chance, count: number): readonly Case[] {
  return Array.from({ length: count }, () => {
    const group = rand.pick(groups)
    const who = { user: rand.pick(users), groups: group === undefined ? undefined : [group] }
    const what =
      rand.float() < 0.12
        ? { nonResourceAttributes: { verb: rand.pick(['get', 'post']), path: rand.pick(paths) } }
        : { resourceAttributes: resourceAttributes(rand.pick(corpus), rand) }
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { ...who, ...what },
    }
    return {
      name: `${who.user} ${JSON.stringify(Object.values(what)[0])}`,
      ns: false,
      steps: [{ m: 'POST', p: '/apis/authorization.k8s.io/v1/subjectaccessreviews', b: JSON.stringify(review) }],
    }
  })
}

function resourceAttributes(entry: CorpusEntry, rand: Chance) {
  const { apiVersion } = entry.object
  return {
    verb: rand.pick(verbs),
    group: apiVersion.includes('/') ? apiVersion.split('/')[0] : '',
    resource: entry.path.split('/').at(-1),
    subresource: rand.maybe(0.25, rand.pick(subresources)),
    namespace: rand.pick([undefined, 'default', 'kube-system']),
    name: rand.pick([undefined, undefined, 'x', 'kube-scheduler', 'extension-apiserver-authentication']),
  }
}
