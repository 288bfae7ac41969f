/** Reviews of what somebody may do: of others, of oneself, in a namespace, and as a list of rules. */
import type { Case } from '../recording.ts'
import { type Any, get, post, remove } from './definitions.ts'
import { decisionCases } from './identity-decisions.ts'
import { asked, askedHere, authentication, authorization, here, list, may, sar, whoami } from './identity-parts.ts'

const selfReviews = `${authentication}/selfsubjectreviews`
const reviews = `${authorization}/subjectaccessreviews`

function forms(): readonly Case[] {
  const good = { user: 'jane', resourceAttributes: { verb: 'get', resource: 'pods' } }
  const of = (kind: string, more: Any) => ({ apiVersion: 'authorization.k8s.io/v1', kind, ...more })
  return [
    {
      name: 'reviews: forms of a SubjectAccessReview',
      steps: [
        sar(undefined),
        sar(null),
        sar({}),
        sar({ user: '' }),
        sar({ user: ' ', resourceAttributes: {} }),
        sar({ groups: [], resourceAttributes: {} }),
        sar({ groups: [''], resourceAttributes: {} }),
        sar({ uid: 'u', resourceAttributes: {} }),
        sar({ extra: { a: ['b'] }, resourceAttributes: {} }),
        sar({ user: 'jane', resourceAttributes: {} }),
        sar({ user: 'jane', nonResourceAttributes: {} }),
        sar({ user: 'jane', resourceAttributes: null, nonResourceAttributes: { path: '/x', verb: 'get' } }),
        sar({ ...good, nonResourceAttributes: { path: '/x', verb: 'get' } }),
        sar({ ...good, extra: { 'A/b': ['1', '2'], __proto__x: ['y'] }, uid: 'u', groups: ['a', 'a', ''] }),
        sar({ ...good, extra: { a: 'b' } }),
        sar({ ...good, groups: 'a' }),
        sar({ ...good, user: 7 }),
        sar({ ...good, group: ['a'] }),
        sar(good, { metadata: { name: 'a' } }),
        sar(good, { metadata: { namespace: 'default' } }),
        sar(good, { metadata: { generateName: 'a-', labels: { a: 'b' } } }),
        sar(good, { status: { allowed: true, reason: 'mine' } }),
        { ...sar(good), p: `${reviews}?dryRun=All` },
        {
          ...sar(good),
          p: `${reviews}?fieldValidation=Strict`,
          b: JSON.stringify(of('SubjectAccessReview', { spec: { ...good, more: 1 } })),
        },
        { ...sar(good), p: `${reviews}?fieldManager=me` },
        post(reviews, of('SelfSubjectAccessReview', { spec: good })),
        post(reviews, { apiVersion: 'authorization.k8s.io/v1beta1', kind: 'SubjectAccessReview', spec: good }),
        post(reviews, { spec: good }),
        post(reviews, ''),
        post(`${authorization}/namespaces/$NS/subjectaccessreviews`, of('SubjectAccessReview', { spec: good })),
        get(reviews),
        remove(`${reviews}/a`),
        { ...sar(good), h: { 'impersonate-user': 'jane' } },
        { ...sar(good), h: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } },
        { ...sar(good), h: { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' } },
      ],
    },
    {
      name: 'reviews: forms of a SelfSubjectReview',
      steps: [
        whoami(),
        post(selfReviews, {}),
        post(selfReviews, ''),
        post(selfReviews, 'null'),
        post(selfReviews, {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'SelfSubjectReview',
          metadata: { name: 'a' },
        }),
        post(selfReviews, {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'SelfSubjectReview',
          metadata: { namespace: 'x', labels: { a: 'b' }, generateName: 'c' },
        }),
        post(selfReviews, {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'SelfSubjectReview',
          status: { userInfo: { username: 'somebody', groups: ['system:masters'] } },
        }),
        post(selfReviews, { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', spec: { a: 1 } }),
        post(`${selfReviews}?fieldValidation=Strict`, {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'SelfSubjectReview',
          spec: { a: 1 },
        }),
        post(`${selfReviews}?dryRun=All`, { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }),
        post(selfReviews, { apiVersion: 'authentication.k8s.io/v1beta1', kind: 'SelfSubjectReview' }),
        post(selfReviews, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' }),
        post('/apis/authentication.k8s.io/v1beta1/selfsubjectreviews', {}),
        post('/apis/authentication.k8s.io/v1alpha1/selfsubjectreviews', {}),
        { ...whoami(), h: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } },
        { ...whoami({ 'impersonate-user': 'jane' }), p: `${selfReviews}?pretty=true` },
        get(selfReviews),
        get(`${selfReviews}/a`),
        remove(selfReviews),
      ],
    },
    {
      name: 'reviews: forms of the reviews in a namespace and of oneself',
      steps: [
        askedHere(undefined),
        askedHere({}),
        askedHere({ user: 'jane' }),
        askedHere({ user: 'jane', resourceAttributes: {} }),
        askedHere({ user: 'jane', resourceAttributes: here({ verb: 'get', resource: 'pods' }) }),
        askedHere({ user: 'jane', resourceAttributes: { verb: 'get', resource: 'pods' } }),
        askedHere({ resourceAttributes: here({}) }),
        askedHere({ user: 'jane', resourceAttributes: here({}), nonResourceAttributes: { path: '/', verb: 'get' } }),
        askedHere({ user: 'jane', nonResourceAttributes: {} }),
        askedHere({ user: 'jane', resourceAttributes: here({}) }, { metadata: { namespace: 'other' } }),
        askedHere({ user: 'jane', resourceAttributes: here({}) }, { metadata: { namespace: '$NS', name: 'a' } }),
        askedHere({ user: 'jane', resourceAttributes: { namespace: 'other' } }, { metadata: { namespace: '$NS' } }),
        askedHere({ user: 'jane', resourceAttributes: here(list({ labelSelector: {} })) }),
        askedHere({ groups: ['system:masters'], resourceAttributes: here({ verb: '*', resource: '*', group: '*' }) }),
        post(`${authorization}/localsubjectaccessreviews`, of('LocalSubjectAccessReview', { spec: {} })),
        asked('SelfSubjectAccessReview', undefined),
        asked('SelfSubjectAccessReview', { user: 'jane', resourceAttributes: {} }),
        asked('SelfSubjectAccessReview', { resourceAttributes: {}, nonResourceAttributes: {} }),
        asked('SelfSubjectAccessReview', { nonResourceAttributes: {} }),
        asked('SelfSubjectAccessReview', { resourceAttributes: list({ fieldSelector: {} }) }),
        asked('SelfSubjectAccessReview', { resourceAttributes: {} }, {}, { metadata: { name: 'a' } }),
        asked('SelfSubjectAccessReview', { resourceAttributes: {} }, {}, { status: { denied: true } }),
        asked('SelfSubjectRulesReview', undefined),
        asked('SelfSubjectRulesReview', { namespace: '*' }),
        asked('SelfSubjectRulesReview', { namespace: 'No Name' }),
        asked('SelfSubjectRulesReview', { namespace: 'default' }, {}, { metadata: { name: 'a', labels: { a: 'b' } } }),
        asked('SelfSubjectRulesReview', { namespace: 'default' }, {}, { status: { incomplete: true } }),
        asked('SelfSubjectRulesReview', { namespace: 7 }),
        get(`${authorization}/selfsubjectrulesreviews`),
      ],
    },
  ]
}

function selectors(): readonly Case[] {
  const fields = (fieldSelector: Any, more: Any = {}) => may(list({ fieldSelector, ...more }))
  const labels = (labelSelector: Any, more: Any = {}) => may(list({ labelSelector, ...more }))
  const need = (key: string, operator: string, ...values: string[]) => ({ key, operator, values })
  return [
    {
      name: 'reviews: field selectors',
      steps: [
        fields({}),
        fields(null),
        fields({ rawSelector: '' }),
        fields({ requirements: [] }),
        fields({ rawSelector: 'a=b' }),
        fields({ rawSelector: 'a=b,c!=d' }),
        fields({ rawSelector: 'a' }),
        fields({ rawSelector: '&foo' }),
        fields({ rawSelector: 'a=b=c' }),
        fields({ rawSelector: 'a=b\\,c' }),
        fields({ rawSelector: 'a=b\\' }),
        fields({ rawSelector: ',' }),
        fields({ requirements: [need('a', 'In', 'b')] }),
        fields({ requirements: [need('a', 'In')] }),
        fields({ requirements: [need('a', 'In', 'b', 'c')] }),
        fields({ requirements: [need('a', 'NotIn', 'b')] }),
        fields({ requirements: [need('a', 'NotIn', 'b', 'c')] }),
        fields({ requirements: [need('a', 'Exists')] }),
        fields({ requirements: [need('a', 'DoesNotExist')] }),
        fields({ requirements: [need('a', 'Exists', 'b')] }),
        fields({ requirements: [need('a', 'Gt', '1')] }),
        fields({ requirements: [need('a', '', 'b')] }),
        fields({ requirements: [need('', 'In', 'b')] }),
        fields({ requirements: [{}] }),
        fields({ requirements: [need('a', 'In', 'b'), need('c', 'Bogus'), need('', 'In', 'x')] }),
        fields({ requirements: [need('a', 'In', 'b'), need('c', 'Exists')] }),
        fields({ rawSelector: 'a=b', requirements: [need('', 'In', 'b')] }),
        fields({ rawSelector: 'a=b' }, { verb: 'get', name: 'x' }),
        fields({ requirements: 'a' }),
        fields({ requirements: [need('a b', 'In', 'c d')] }),
      ],
    },
    {
      name: 'reviews: label selectors',
      steps: [
        labels({}),
        labels({ rawSelector: 'a=b' }),
        labels({ rawSelector: 'a in (b,c),!d,e,f notin (g)' }),
        labels({ rawSelector: 'a>1,b<2' }),
        labels({ rawSelector: 'a in b' }),
        labels({ rawSelector: 'a in (' }),
        labels({ rawSelector: '-a=b' }),
        labels({ rawSelector: 'a=b c' }),
        labels({ requirements: [need('a', 'In', 'b')] }),
        labels({ requirements: [need('a', 'In')] }),
        labels({ requirements: [need('a', 'In', 'c', 'b')] }),
        labels({ requirements: [need('a', 'NotIn', 'b', 'c')] }),
        labels({ requirements: [need('a', 'Exists')] }),
        labels({ requirements: [need('a', 'Exists', 'b')] }),
        labels({ requirements: [need('a', 'DoesNotExist')] }),
        labels({ requirements: [need('a', 'DoesNotExist', 'x')] }),
        labels({ requirements: [need('a', 'Gt', '1')] }),
        labels({ requirements: [need('-a', 'Exists')] }),
        labels({ requirements: [need('a', 'In', '-b')] }),
        labels({ requirements: [need('', 'Exists')] }),
        labels({ requirements: [need('a', 'In', 'b'), need('c', 'Bogus')] }),
        labels({ requirements: [need('c', 'Bogus'), need('d', 'Other')] }),
        labels({ rawSelector: 'a=b', requirements: [need('a', 'Exists')] }),
        may(list({ labelSelector: { rawSelector: '((' }, fieldSelector: { rawSelector: '((' } })),
        may(
          list({
            labelSelector: { requirements: [need('a', 'Bogus')] },
            fieldSelector: { requirements: [need('a', 'Bogus')] },
          }),
        ),
        may(list({ labelSelector: {}, fieldSelector: {} })),
        asked(
          'SelfSubjectAccessReview',
          { resourceAttributes: list({ labelSelector: { rawSelector: '((' } }) },
          { 'impersonate-user': 'jane' },
        ),
      ],
    },
  ]
}

export const reviewCases = (): readonly Case[] => [...forms(), ...selectors(), ...decisionCases()]
