/** Parts of the questions about who somebody is and what he may do. */
import type { Step } from '../recording.ts'
import { type Any, post, remove } from './definitions.ts'

export const core = '/api/v1/namespaces/$NS'
export const authentication = '/apis/authentication.k8s.io/v1'
export const authorization = '/apis/authorization.k8s.io/v1'
const api = 'rbac.authorization.k8s.io/v1'
const rbac = `/apis/${api}`

export const tokenOf = (account: string, spec: Any, more: Any = {}): Step =>
  post(`${core}/serviceaccounts/${account}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    ...more,
    spec,
  })
export const request = (spec: Any, more: Any = {}): Step => tokenOf('default', spec, more)
export const review = (spec: Any, more: Any = {}): Step =>
  post(`${authentication}/tokenreviews`, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', ...more, spec })
export const whoami = (h: Step['h'] = {}): Step => ({
  ...post(`${authentication}/selfsubjectreviews`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
  }),
  h,
})
export const asked = (kind: string, spec: Any, h: Step['h'] = {}, more: Any = {}): Step => ({
  ...post(`${authorization}/${kind.toLowerCase()}s`, { apiVersion: 'authorization.k8s.io/v1', kind, ...more, spec }),
  h,
})
export const askedHere = (spec: Any, more: Any = {}): Step =>
  post(`${authorization}/namespaces/$NS/localsubjectaccessreviews`, {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'LocalSubjectAccessReview',
    ...more,
    spec,
  })
/** The token in the answer to this step. */
export const token = (step: number) => `{{${step}.status.token}}`
/** The same step, asked by whom this token is; by nobody when it is empty. */
export const by = (bearer: string, step: Step): Step => ({ ...step, token: bearer })

export const account = (name: string, more: Any = {}): Step =>
  post(`${core}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, ...more } })
export const pod = (name: string, spec: Any = {}): Any => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
})

const subjectOf = (who: string): Any =>
  who.startsWith('account:')
    ? { kind: 'ServiceAccount', name: who.slice('account:'.length), namespace: '$NS' }
    : who.startsWith('group:')
      ? { kind: 'Group', name: who.slice('group:'.length), apiGroup: 'rbac.authorization.k8s.io' }
      : { kind: 'User', name: who, apiGroup: 'rbac.authorization.k8s.io' }

/** A rule about resources: `verbs resources[/…] in groups named names`, each a list with commas. */
export const rule = (verbs: string, resources: string, groups = '', names = ''): Any => ({
  verbs: verbs.split(','),
  apiGroups: groups.split(','),
  resources: resources.split(','),
  ...(names === '' ? {} : { resourceNames: names.split(',') }),
})

/** A role of the case's namespace and its binding; `who` is a user, `group:NAME` or `account:NAME`. */
export const granted = (name: string, who: readonly string[], rules: readonly Any[]): readonly Step[] => [
  post(`${rbac}/namespaces/$NS/roles`, { apiVersion: api, kind: 'Role', metadata: { name }, rules }),
  bound(name, who, 'Role', name),
]
export const bound = (name: string, who: readonly string[], kind: string, role: string): Step =>
  post(`${rbac}/namespaces/$NS/rolebindings`, {
    apiVersion: api,
    kind: 'RoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: role },
    subjects: who.map(subjectOf),
  })
/** The same for the whole cluster, under a name of the case's own. */
export const grantedEverywhere = (who: readonly string[], rules: readonly Any[], name = '$NS'): readonly Step[] => [
  post(`${rbac}/clusterroles`, { apiVersion: api, kind: 'ClusterRole', metadata: { name }, rules }),
  post(`${rbac}/clusterrolebindings`, {
    apiVersion: api,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: who.map(subjectOf),
  }),
]
export const withdrawn = (name = '$NS'): readonly Step[] => [
  remove(`${rbac}/clusterrolebindings/${name}`),
  remove(`${rbac}/clusterroles/${name}`),
]

export const sar = (spec: Any, more: Any = {}): Step => asked('SubjectAccessReview', spec, {}, more)
export const here = (attributes: Any): Any => ({ namespace: '$NS', ...attributes })
/** May jane (or whoever `more` says) do this? */
export const may = (resourceAttributes: Any, more: Any = {}): Step => sar({ user: 'jane', ...more, resourceAttributes })
export const mayReach = (path: string, verb = 'get', more: Any = {}): Step =>
  sar({ user: 'jane', ...more, nonResourceAttributes: { path, verb } })
export const list = (attributes: Any): Any => ({ verb: 'list', resource: 'pods', ...attributes })
