/** Who somebody is: tokens asked for, reviewed and outlived by what they are bound to; impersonation; what one may do. */
import type { Case, Step } from '../recording.ts'
import { get, post, remove, until } from './definitions.ts'
import { identityCertificates } from './identity-certificates.ts'
import { impersonationCases } from './identity-impersonation.ts'
import { asked, authorization, core, request, review, token, whoami } from './identity-parts.ts'
import { reviewCases } from './identity-reviews.ts'
import { tokenCases } from './identity-tokens.ts'

const bound = (name: string, made: Step, object: string, gone: Step): Case => ({
  name: `tokens: bound to a ${name}`,
  steps: [
    made,
    request({ boundObjectRef: { kind: object, apiVersion: 'v1', name: 'b', uid: '{{0.metadata.uid}}' } }),
    review({ token: token(1) }),
    request({ boundObjectRef: { kind: object, apiVersion: 'v1', name: 'b', uid: 'other' } }),
    request({ boundObjectRef: { kind: object, apiVersion: 'v1', name: 'none' } }),
    gone,
    // A real server remembers for ten seconds whom it has found.
    until('"error"', review({ token: token(1) })),
  ],
})

const as = (headers: Step['h'] & object) => headers

export function identityCases(): readonly Case[] {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'b' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  }
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'b' } }
  return [
    {
      name: 'tokens: asked for and reviewed',
      steps: [
        request({}),
        review({ token: token(0) }),
        review({ token: token(0), audiences: ['{{0.spec.audiences.0}}'] }),
        review({ token: token(0), audiences: ['other'] }),
        review({ token: token(0), audiences: ['other', '{{0.spec.audiences.0}}'] }),
        request({ audiences: ['one', 'two'], expirationSeconds: 600 }),
        review({ token: token(5) }),
        review({ token: token(5), audiences: ['two'] }),
        review({ token: token(5), audiences: ['two', 'one', 'three'] }),
        review({ token: '' }),
        review({ token: 'nonsense' }),
        review({ token: 'a.b.c' }),
        review({ token: `${token(0)}x` }),
        review({}),
        request({ expirationSeconds: 599 }),
        request({ expirationSeconds: 4294967297 }),
        request({ expirationSeconds: -1 }),
        request({ audiences: [''] }),
        request({ boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 'x' } }),
        request({ boundObjectRef: { kind: 'Pod', apiVersion: 'v2', name: 'x' } }),
        request({ boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'none' } }),
        remove(`${core}/serviceaccounts/default`),
        until('"error"', review({ token: token(0) })),
        request({}),
      ],
    },
    bound('pod', post(`${core}/pods`, pod), 'Pod', remove(`${core}/pods/b`, { gracePeriodSeconds: 0 })),
    bound('secret', post(`${core}/secrets`, secret), 'Secret', remove(`${core}/secrets/b`)),
    {
      name: 'impersonation: who one then is',
      ns: false,
      steps: [
        whoami(),
        whoami(as({ 'impersonate-user': 'jane' })),
        whoami(as({ 'impersonate-user': 'jane', 'impersonate-group': 'dev' })),
        whoami(as({ 'impersonate-user': 'jane', 'impersonate-uid': '7', 'impersonate-extra-scopes': 'a' })),
        whoami(as({ 'impersonate-user': 'jane', 'impersonate-extra-acme.com%2fproject': 'p' })),
        whoami(as({ 'impersonate-group': 'dev' })),
        whoami(as({ 'impersonate-uid': '7' })),
        whoami(as({ 'impersonate-extra-scopes': 'a' })),
        whoami(as({ 'impersonate-user': 'system:anonymous' })),
        whoami(as({ 'impersonate-user': 'system:serviceaccount:default:default' })),
        whoami(as({ 'impersonate-user': 'system:serviceaccount:default' })),
        whoami(as({ 'impersonate-user': 'system:node:n', 'impersonate-group': 'system:nodes' })),
        whoami(as({ 'impersonate-user': '' })),
        { ...get('/api/v1/namespaces/default/pods'), h: { 'impersonate-user': 'jane' } },
        {
          ...get('/api/v1/namespaces/default/pods'),
          h: { 'impersonate-user': 'jane', 'impersonate-group': 'system:masters' },
        },
        {
          ...get('/healthz'),
          h: { 'impersonate-user': 'system:anonymous', 'impersonate-group': 'system:unauthenticated' },
        },
        { ...get('/metrics'), h: { 'impersonate-user': 'jane' } },
      ],
    },
    {
      name: 'reviews: of others and of oneself',
      steps: [
        asked('SubjectAccessReview', {
          user: 'jane',
          resourceAttributes: { verb: 'get', resource: 'pods', namespace: '$NS' },
        }),
        asked('SubjectAccessReview', {
          groups: ['system:masters'],
          nonResourceAttributes: { verb: 'get', path: '/x' },
        }),
        asked('SubjectAccessReview', { user: 'jane' }),
        asked('SubjectAccessReview', { resourceAttributes: { verb: 'get', resource: 'pods' } }),
        asked('SubjectAccessReview', { user: 'a', resourceAttributes: {}, nonResourceAttributes: {} }),
        asked('SubjectAccessReview', {
          user: 'a',
          resourceAttributes: {
            fieldSelector: { rawSelector: 'a=b', requirements: [{ key: 'a', operator: 'In', values: ['b'] }] },
          },
        }),
        asked('SubjectAccessReview', {
          user: 'a',
          resourceAttributes: { verb: 'list', resource: 'pods', fieldSelector: { rawSelector: 'spec.nodeName=n' } },
        }),
        asked('SubjectAccessReview', {
          user: 'a',
          resourceAttributes: {
            verb: 'list',
            resource: 'pods',
            labelSelector: { requirements: [{ key: 'a', operator: 'Bogus' }] },
          },
        }),
        asked('SelfSubjectAccessReview', { resourceAttributes: { verb: '*', group: '*', resource: '*' } }),
        asked(
          'SelfSubjectAccessReview',
          { nonResourceAttributes: { verb: 'get', path: '/metrics' } },
          { 'impersonate-user': 'jane' },
        ),
        asked('SelfSubjectAccessReview', {}),
        asked('SelfSubjectRulesReview', { namespace: '' }),
        asked('SelfSubjectRulesReview', { namespace: '$NS' }, { 'impersonate-user': 'jane' }),
        {
          ...asked('LocalSubjectAccessReview', {}),
          ...post(`${authorization}/namespaces/$NS/localsubjectaccessreviews`, {
            apiVersion: 'authorization.k8s.io/v1',
            kind: 'LocalSubjectAccessReview',
            metadata: { namespace: '$NS' },
            spec: { user: 'jane', resourceAttributes: { verb: 'get', resource: 'pods', namespace: '$NS' } },
          }),
        },
        post(`${authorization}/namespaces/$NS/localsubjectaccessreviews`, {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'LocalSubjectAccessReview',
          spec: { user: 'jane', resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'other' } },
        }),
        post(`${authorization}/namespaces/$NS/localsubjectaccessreviews`, {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'LocalSubjectAccessReview',
          spec: { user: 'jane', nonResourceAttributes: { verb: 'get', path: '/x' } },
        }),
      ],
    },
    ...tokenCases(),
    ...reviewCases(),
    ...impersonationCases(),
    ...identityCertificates(),
  ]
}
