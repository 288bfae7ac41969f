/** Impersonation by who has some of its rights: the older ones, and the constrained ones (KEP-5284). */
import type { Case, Step } from '../recording.ts'
import { type Any, get, merge, post, remove } from './definitions.ts'
import {
  account,
  asked,
  by,
  core,
  granted,
  grantedEverywhere,
  rule,
  token,
  tokenOf,
  whoami,
  withdrawn,
} from './identity-parts.ts'

const AUTHENTICATION = 'authentication.k8s.io'
type Headers = NonNullable<Step['h']>
const user = (name: string, more: Headers = {}): Headers => ({ 'impersonate-user': name, ...more })
const group = (...names: string[]): Headers => ({ 'impersonate-group': names })
const extra = (key: string, ...values: string[]): Headers => ({ [`impersonate-extra-${key}`]: values })
const uid = (value: string): Headers => ({ 'impersonate-uid': value })
const ME = 1

/** An account with these rights in the whole cluster asks as others. */
function rights(name: string, rules: readonly Any[], steps: readonly Step[], more: readonly Step[] = []): Case {
  return {
    name,
    steps: [
      account('me'),
      tokenOf('me', {}),
      ...grantedEverywhere(['account:me'], rules),
      ...more,
      ...steps.map((step, i) => ({ ...by(token(ME), step), ...(i === 0 ? { settle: true } : {}) })),
      ...withdrawn(),
    ],
  }
}

function headers(): readonly Case[] {
  return [
    {
      name: 'impersonation: what the headers may say',
      steps: [
        whoami(user('jane', group('a', 'b'))),
        whoami(user('jane', group('a', 'a', 'A'))),
        whoami(user('jane', group('a,b', 'c d'))),
        whoami(user('jane', group(''))),
        whoami(user('jane', group('', 'a'))),
        whoami(user('jane', group('system:authenticated'))),
        whoami(user('jane', group('system:unauthenticated'))),
        whoami(user('jane', group('system:authenticated', 'system:unauthenticated'))),
        whoami(user('jane', group('system:masters'))),
        whoami(user('system:anonymous', group('a'))),
        whoami(user('system:anonymous', group('system:authenticated'))),
        whoami(user('system:anonymous', group('system:unauthenticated'))),
        whoami(user('system:serviceaccount:a:b')),
        whoami(user('system:serviceaccount:a:b', group('x'))),
        whoami(user('system:serviceaccount:a:b', uid('7'))),
        whoami(user('system:serviceaccount:a:b', extra('example.com%2fx', '1'))),
        whoami(user('system:serviceaccount:a:b:c')),
        whoami(user('system:serviceaccount:A:b')),
        whoami(user('system:serviceaccount:a:')),
        whoami(user('system:serviceaccount::b')),
        whoami(user('system:node:')),
        whoami(user('system:node:n', group('a'))),
        whoami(group('')),
        whoami(extra('a', '')),
        whoami(user('jane', { 'impersonate-uid': ['7', '8'] })),
        whoami(user('jane', uid(''))),
        whoami(user('jane', uid('a b'))),
        whoami(user('jane', extra('A', 'x', 'y', 'x'))),
        whoami(user('jane', extra('a%2Fb', 'x'))),
        whoami(user('jane', extra('a%2fb%20c', 'x'))),
        whoami(user('jane', extra('a%zz', 'x'))),
        whoami(user('jane', extra('%', 'x'))),
        whoami(user('jane', extra('', 'x'))),
        whoami(user('jane', extra('a', ''))),
        whoami(user('jane', extra('a', 'x,y', 'z'))),
        whoami(user('jane', { ...extra('b', '1'), ...extra('a', '2') })),
        whoami(user('jane', extra('__proto__', 'x'))),
        whoami(user('jane', extra('authentication.kubernetes.io%2fcredential-id', 'x'))),
        whoami(user(' ')),
        whoami(user('a b')),
        whoami(user('*')),
        whoami(user('jane', { 'impersonate-other': 'x' })),
        whoami({ 'impersonate-other': 'x' }),
        whoami(group('a', 'b')),
        whoami({ ...uid('7'), ...group('a'), ...extra('b', '1'), ...extra('a', '2', '3') }),
        whoami(user('', group('a'))),
        whoami(user('', uid(''))),
        whoami({ 'impersonate-user': ['jane', 'john'] }),
        { ...get(`${core}/pods`), h: user('jane', group('system:masters')) },
        { ...get('/api/v1/nodes'), h: user('jane', group('dev')) },
        { ...get('/nothing'), h: user('jane') },
        { ...get('/healthz'), h: user('jane') },
        { ...get('/api'), h: user('system:anonymous') },
        { ...get(`${core}/pods?watch=true&timeoutSeconds=1`), h: user('jane') },
        { ...remove(`${core}/pods`), h: user('jane') },
        { ...get(`${core}/pods/x/log`), h: user('jane') },
        { ...get('/apis/nothing.example.com/v1/things'), h: user('jane') },
      ],
    },
  ]
}

const impersonate = (resources: string, names = '', groups = '') => rule('impersonate', resources, groups, names)

function older(): readonly Case[] {
  return [
    {
      name: 'impersonation: without any right',
      steps: [
        account('me'),
        tokenOf('me', {}),
        ...[
          user('jane'),
          user('system:serviceaccount:$NS:me'),
          user('system:serviceaccount:$NS:default'),
          user('system:serviceaccount:kube-system:x'),
          user('system:node:n'),
          user('system:node:n', group('system:nodes')),
          user('system:anonymous'),
          user('jane', group('system:masters')),
          user('jane', uid('1')),
          user('jane', extra('example.com%2fa', '1')),
          user('jane', extra('a', '1')),
          user('system:serviceaccount:$NS:default', group('a')),
          group('a'),
          {},
        ].map((h) => by(token(ME), whoami(h))),
        by(token(ME), { ...get(`${core}/pods/x`), h: user('jane') }),
        by(token(ME), { ...get('/healthz'), h: user('jane') }),
        by('', { ...get('/healthz'), h: user('jane') }),
        by('nonsense', whoami(user('jane'))),
      ],
    },
    rights(
      'impersonation: some users, groups, uids and extra fields',
      [
        impersonate('users', 'jane,john'),
        impersonate('groups', 'dev,ops'),
        impersonate('uids', '7', AUTHENTICATION),
        impersonate('userextras/scopes', 'view', AUTHENTICATION),
        impersonate('userextras/example.com/project', '', AUTHENTICATION),
      ],
      [
        whoami(user('jane')),
        whoami(user('john', group('dev'))),
        whoami(user('jim')),
        whoami(user('jane', group('dev', 'ops'))),
        whoami(user('jane', group('dev', 'admins', 'more'))),
        whoami(user('jane', group('system:masters'))),
        whoami(user('jane', group('system:authenticated'))),
        whoami(user('jane', uid('7'))),
        whoami(user('jane', uid('8'))),
        whoami(user('jane', extra('scopes', 'view'))),
        whoami(user('jane', extra('Scopes', 'view'))),
        whoami(user('jane', extra('scopes', 'view', 'edit'))),
        whoami(user('jane', extra('other', 'view'))),
        whoami(user('jane', extra('example.com%2fproject', 'any', 'thing'))),
        whoami(user('jane', { ...group('dev'), ...uid('7'), ...extra('scopes', 'view') })),
        whoami(user('jim', { ...group('admins'), ...uid('8'), ...extra('other', 'x') })),
        whoami(user('jane', { ...group('admins'), ...uid('8') })),
        whoami(user('jane', { ...uid('8'), ...extra('other', 'x') })),
        whoami(user('system:serviceaccount:$NS:me')),
        whoami(user('system:anonymous')),
        whoami(user('')),
        { ...get(`${core}/configmaps`), h: user('jane') },
        asked('SelfSubjectAccessReview', { resourceAttributes: { verb: 'get', resource: 'pods' } }, user('jane')),
      ],
    ),
    {
      name: 'impersonation: service accounts of one namespace',
      steps: [
        account('me'),
        tokenOf('me', {}),
        ...granted('me', ['account:me'], [impersonate('serviceaccounts', 'default'), impersonate('users,groups')]),
        { ...by(token(ME), whoami(user('system:serviceaccount:$NS:default'))), settle: true },
        by(token(ME), whoami(user('system:serviceaccount:$NS:me'))),
        by(token(ME), whoami(user('system:serviceaccount:$NS:ghost'))),
        by(token(ME), whoami(user('system:serviceaccount:default:default'))),
        by(token(ME), whoami(user('system:serviceaccount:$NS:default', group('system:serviceaccounts')))),
        by(token(ME), whoami(user('system:serviceaccount:$NS:default', extra('a', 'b')))),
        by(token(ME), whoami(user('jane'))),
        by(token(ME), { ...get(`${core}/serviceaccounts/default`), h: user('system:serviceaccount:$NS:default') }),
      ],
    },
    rights(
      'impersonation: everybody, but no groups',
      [impersonate('users,serviceaccounts')],
      [
        whoami(user('jane')),
        whoami(user('kubernetes-admin')),
        whoami(user('system:node:n')),
        whoami(user('system:node:n', group('system:nodes'))),
        whoami(user('system:kube-scheduler')),
        whoami(user('system:anonymous')),
        whoami(user('system:serviceaccount:kube-system:generic-garbage-collector')),
        whoami(user('system:serviceaccount:kube-system:x', group('system:serviceaccounts'))),
        whoami(user('jane', uid('7'))),
      ],
    ),
  ]
}

function constrained(): readonly Case[] {
  const as = (mode: string, resources: string, names = '') =>
    rule(`impersonate:${mode}`, resources, AUTHENTICATION, names)
  const on = (mode: string, verbs: string, resources: string, groups = '') =>
    rule(
      verbs
        .split(',')
        .map((verb) => `impersonate-on:${mode}:${verb}`)
        .join(),
      resources,
      groups,
    )
  const selfReview = (mode: string) => on(mode, 'create', 'selfsubjectreviews', AUTHENTICATION)
  return [
    rights(
      'constrained impersonation: a user',
      [
        as('user-info', 'users', 'jane'),
        as('user-info', 'groups', 'dev'),
        as('user-info', 'uids', '7'),
        as('user-info', 'userextras/example.com/project', 'p'),
        on('user-info', 'list,get', 'configmaps'),
        selfReview('user-info'),
        { verbs: ['impersonate-on:user-info:get'], nonResourceURLs: ['/api'] },
      ],
      [
        whoami(user('jane')),
        whoami(user('john')),
        whoami(user('jane', group('dev'))),
        whoami(user('jane', group('dev', 'ops'))),
        whoami(user('jane', uid('7'))),
        whoami(user('jane', uid('8'))),
        whoami(user('jane', extra('example.com%2fproject', 'p'))),
        whoami(user('jane', extra('example.com%2fproject', 'q'))),
        whoami(user('jane', extra('example.com%2fother', 'p'))),
        whoami(user('jane', extra('scopes', 'p'))),
        whoami(user('jane', extra('%2fa', 'p'))),
        whoami(user('jane', extra('a%2f', 'p'))),
        whoami(user('jane', extra('Example.com%2fa', 'p'))),
        whoami(user('jane', extra('example.com%2fa%2fb', 'p'))),
        whoami(user('jane', { ...group('dev'), ...uid('7'), ...extra('example.com%2fproject', 'p') })),
        whoami(user('system:serviceaccount:$NS:default')),
        whoami(user('system:node:n')),
        whoami(user('system:anonymous')),
        { ...get(`${core}/configmaps`), h: user('jane') },
        { ...get(`${core}/configmaps/x`), h: user('jane') },
        { ...get(`${core}/configmaps?watch=true&timeoutSeconds=1`), h: user('jane') },
        { ...remove(`${core}/configmaps/x`), h: user('jane') },
        { ...get(`${core}/secrets`), h: user('jane') },
        { ...get('/apis/apps'), h: user('jane') },
        { ...get('/api'), h: user('jane') },
        asked('SelfSubjectAccessReview', { resourceAttributes: { verb: 'get', resource: 'pods' } }, user('jane')),
      ],
    ),
    rights(
      'constrained impersonation: a user who may do it',
      [
        as('user-info', 'users', '$NS-jane'),
        on('user-info', 'get,create,patch', 'configmaps'),
        on('user-info', 'get', 'pods/log'),
      ],
      [
        {
          ...post(`${core}/configmaps`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }),
          h: user('$NS-jane'),
        },
        { ...get(`${core}/configmaps/a`), h: user('$NS-jane') },
        {
          ...merge(`${core}/configmaps/a`, { data: { a: 'b' } }),
          h: { ...user('$NS-jane'), 'content-type': 'application/merge-patch+json' },
        },
        { ...get(`${core}/configmaps`), h: user('$NS-jane') },
        { ...get(`${core}/configmaps/a`), h: user('$NS-jane', group('dev')) },
        { ...get(`${core}/pods/a/log`), h: user('$NS-jane') },
        get(`${core}/configmaps/a`),
      ],
      granted('jane', ['$NS-jane'], [rule('get,list,create', 'configmaps')]),
    ),
    rights(
      'constrained impersonation: service accounts and nodes',
      [
        as('serviceaccount', 'serviceaccounts', 'default'),
        as('arbitrary-node', 'nodes', 'n1'),
        as('associated-node', 'nodes'),
        selfReview('serviceaccount'),
        selfReview('arbitrary-node'),
        on('serviceaccount', 'get', 'serviceaccounts'),
        on('arbitrary-node', 'get', 'nodes'),
        on('associated-node', 'get', 'nodes'),
      ],
      [
        whoami(user('system:serviceaccount:$NS:default')),
        whoami(user('system:serviceaccount:$NS:me')),
        whoami(user('system:serviceaccount:other:default')),
        whoami(user('system:serviceaccount:$NS:default', group('a'))),
        whoami(user('system:serviceaccount:$NS:default', uid('7'))),
        whoami(user('system:serviceaccount:$NS:default', extra('example.com%2fa', 'b'))),
        whoami(user('system:node:n1')),
        whoami(user('system:node:n2')),
        whoami(user('system:node:')),
        whoami(user('system:node:n1', group('system:nodes'))),
        whoami(user('system:node:n1', uid('7'))),
        whoami(user('jane')),
        { ...get(`${core}/serviceaccounts/default`), h: user('system:serviceaccount:$NS:default') },
        { ...get('/api/v1/nodes/n1'), h: user('system:node:n1') },
        { ...get('/api/v1/nodes/n2'), h: user('system:node:n1') },
        { ...get(`${core}/pods`), h: user('system:node:n1') },
      ],
    ),
    rights(
      'impersonation: what let one through before is tried first',
      [
        impersonate('users', 'jane,system:node:n1'),
        as('user-info', 'users', 'jim'),
        on('user-info', 'get', 'configmaps'),
        as('arbitrary-node', 'nodes'),
        selfReview('arbitrary-node'),
      ],
      [
        whoami(user('joe')),
        whoami(user('system:node:n1')),
        whoami(user('joe')),
        whoami(user('jane')),
        whoami(user('system:node:n1')),
        whoami(user('system:node:n2')),
        whoami(user('joe')),
        whoami(user('jane')),
        whoami(user('joe')),
        { ...get(`${core}/configmaps/x`), h: user('joe') },
        { ...get(`${core}/configmaps/x`), h: user('jim') },
        { ...get(`${core}/configmaps/x`), h: user('joe') },
        { ...get('/healthz'), h: user('joe') },
        whoami(user('joe', { ...group('b', 'a'), ...uid('7'), ...extra('x', '1') })),
        whoami(user('jane', { ...group('b', 'a'), ...uid('7') })),
        whoami(user('system:serviceaccount:$NS:default')),
        whoami(user('system:serviceaccount:$NS:default', group('a'))),
      ],
    ),
    rights(
      'constrained impersonation: the deed without the person, the person without the deed',
      [as('user-info', 'users', 'jane'), on('user-info', 'get', 'configmaps'), impersonate('users', 'john')],
      [
        whoami(user('jane')),
        { ...get(`${core}/configmaps/x`), h: user('jim') },
        { ...get(`${core}/configmaps/x`), h: user('jane') },
        { ...get(`${core}/configmaps/x`), h: user('john') },
        whoami(user('john')),
        { ...get(`${core}/configmaps/x`), h: user('john', group('a')) },
      ],
    ),
    {
      name: 'constrained impersonation: the node of one’s own pod',
      steps: [
        account('me'),
        post(`${core}/pods`, {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'p' },
          spec: { serviceAccountName: 'me', nodeName: '$NS-node', containers: [{ name: 'c', image: 'i' }] },
        }),
        tokenOf('me', { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p', uid: '{{1.metadata.uid}}' } }),
        ...grantedEverywhere(
          ['account:me'],
          [as('associated-node', 'nodes', '*'), selfReview('associated-node'), on('associated-node', 'list', 'pods')],
        ),
        { ...by(token(2), whoami(user('system:node:$NS-node'))), settle: true },
        by(token(2), whoami(user('system:node:other'))),
        by(token(2), whoami(user('system:node:$NS-node', group('system:nodes')))),
        by(token(2), { ...get(`/api/v1/pods?fieldSelector=spec.nodeName=$NS-node`), h: user('system:node:$NS-node') }),
        by(token(2), { ...get(`/api/v1/pods`), h: user('system:node:$NS-node') }),
        by(token(2), { ...get('/api/v1/nodes/$NS-node'), h: user('system:node:$NS-node') }),
        by(token(2), whoami()),
        ...withdrawn(),
        remove(`${core}/pods/p`, { gracePeriodSeconds: 0 }),
      ],
    },
  ]
}

export const impersonationCases = (): readonly Case[] => [...headers(), ...older(), ...constrained()]
