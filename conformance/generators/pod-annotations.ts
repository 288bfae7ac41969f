/**
 * Annotations that Kubernetes reads itself, of pods and templates, at their creation and later.
 */
import type { Case, Step } from '../recording.ts'
import { PATCH, POD, POST } from './hostile-requests.ts'
import { M, S } from './semantic-parts.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects of any kind
type Any = any

const MIRROR = 'kubernetes.io/config.mirror'
const COST = 'controller.kubernetes.io/pod-deletion-cost'
const TOLERATIONS = 'scheduler.alpha.kubernetes.io/tolerations'
export const APPARMOR = 'container.apparmor.security.beta.kubernetes.io/'
export const SECCOMP = 'seccomp.security.alpha.kubernetes.io/pod'
export const OWN_SECCOMP = 'container.seccomp.security.alpha.kubernetes.io/'

export const containers = [{ name: 'c', image: 'i' }]
const template = (annotations: Any, spec: Any = {}) => ({
  metadata: { labels: { a: 'b' }, annotations },
  spec: { containers, ...spec },
})
export const pod = (annotations: Any, spec: Any = {}): Step =>
  POST(`${POD}?dryRun=All`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', annotations },
    spec: { containers, ...spec },
  })
const selector = { matchLabels: { a: 'b' } }
export const ofTemplate = (annotations: Any, spec: Any = {}): Step =>
  POST('/apis/apps/v1/namespaces/$NS/deployments?dryRun=All', {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: { selector, template: template(annotations, spec) },
  })
const field = (kind: string, type: string, name?: string) => ({
  securityContext: { [kind]: { type, ...(name === undefined ? {} : { localhostProfile: name }) } },
})
export const own = (fields: Any) => ({ containers: [{ name: 'c', image: 'i', ...fields }] })

const texts: readonly Step[] = [
  pod({ [MIRROR]: 'x' }),
  pod({ [MIRROR]: '' }),
  pod(
    { [MIRROR]: 'x', [COST]: '+1', [SECCOMP]: 'bad', [TOLERATIONS]: 'bad', [`${APPARMOR}zz`]: 'bad' },
    { volumes: [{ name: 'V_' }] },
  ),
  pod(
    { [MIRROR]: 'x' },
    { nodeName: 'n', automountServiceAccountToken: false, resourceClaims: [{ name: 'A_' }, { name: 'A_' }] },
  ),
  ofTemplate({ [MIRROR]: 'x', [COST]: 'q', [SECCOMP]: 'bad', [TOLERATIONS]: '{}', [`${APPARMOR}c`]: 'bad' }),
  ofTemplate({ [MIRROR]: 'x', 'a b': 'c' }, { resourceClaims: [{ name: 'A_' }], restartPolicy: 'Never' }),
  ...[
    '[]',
    'null',
    '',
    '{}',
    '[]x',
    '[1]',
    '[{"key":1}]',
    '[{"key":"a b"}]',
    '[{"operator":"Equal"}]',
    '[{"Key":"a","operator":"X"}]',
    '[{"tolerationSeconds":"1"}]',
    '[{"key":"a","effect":"NoSchedule","tolerationSeconds":5}]',
  ].map((text) => pod({ [TOLERATIONS]: text })),
  ...[
    'runtime/default',
    'docker/default',
    'unconfined',
    'localhost/a',
    'localhost/',
    'localhost//',
    'localhost/../a',
    'localhost',
    '',
    'bad',
  ].flatMap((text) => [pod({ [SECCOMP]: text }), pod({ [`${OWN_SECCOMP}c`]: text })]),
  ...['unconfined', 'runtime/default', 'localhost/a', 'localhost/', 'localhost/ a ', '', 'RuntimeDefault'].flatMap(
    (text) => [
      pod({ [`${APPARMOR}c`]: text }),
      pod({ [`${APPARMOR}c`]: text }, field('appArmorProfile', 'RuntimeDefault')),
      pod({ [`${APPARMOR}c`]: text }, { os: { name: 'windows' } }),
      ofTemplate({ [`${APPARMOR}c`]: text }, field('appArmorProfile', 'RuntimeDefault')),
    ],
  ),
  pod({ [`${APPARMOR}zz`]: 'unconfined' }),
  pod({ [`${APPARMOR}n`]: 'unconfined' }, { initContainers: [{ name: 'n', image: 'i' }] }),
]

const besideFields: readonly Step[] = [
  'runtime/default',
  'docker/default',
  'unconfined',
  'localhost/a',
  'localhost/',
].flatMap((text) =>
  [['RuntimeDefault'], ['Unconfined'], ['Localhost', 'a'], ['Localhost', 'b']].flatMap(([type = '', name]) => [
    pod({ [SECCOMP]: text }, field('seccompProfile', type, name)),
    pod({ [`${OWN_SECCOMP}c`]: text }, own(field('seccompProfile', type, name))),
    pod({ [`${APPARMOR}c`]: text }, own(field('appArmorProfile', type, name))),
    ofTemplate({ [`${OWN_SECCOMP}c`]: text, [`${APPARMOR}c`]: text }, own(field('appArmorProfile', type, name))),
  ]),
)

const created = (name: string, annotations: Any, spec: Any = {}): Step =>
  POST(POD, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, annotations },
    spec: { automountServiceAccountToken: false, schedulerName: 'none', containers, ...spec },
  })
const annotated = (name: string, annotations: Any, more: Any = {}, subresource = ''): Step =>
  PATCH(`${POD}/${name}${subresource}?dryRun=All`, subresource === '' ? S : M, { metadata: { annotations }, ...more })

const changes: readonly Step[] = [
  created('m', { [MIRROR]: 'x' }, { nodeName: 'n' }),
  created('a', { [`${APPARMOR}c`]: 'unconfined' }),
  created('s', { [SECCOMP]: 'unconfined', [COST]: '1' }),
  created('n', {}),
  annotated('m', { [MIRROR]: 'y' }),
  annotated('m', { [MIRROR]: null }),
  annotated('m', { other: 'x' }),
  annotated('n', { [MIRROR]: 'x' }),
  annotated('a', { [`${APPARMOR}c`]: 'runtime/default' }),
  annotated('a', { [`${APPARMOR}c`]: null }),
  annotated('a', { [`${APPARMOR}c`]: 'bad' }, { spec: { containers: [{ name: 'c', image: ' z' }] } }),
  annotated('a', { [`${APPARMOR}zz`]: 'x' }),
  annotated('n', { [`${APPARMOR}c`]: 'unconfined' }),
  annotated('s', { [SECCOMP]: 'runtime/default' }),
  annotated('s', { [SECCOMP]: 'bad' }),
  annotated('s', { [SECCOMP]: null }),
  annotated('s', { [COST]: 'q' }),
  annotated('n', { [TOLERATIONS]: 'bad' }),
  annotated('a', { [`${APPARMOR}c`]: 'bad' }, {}, '/status'),
  annotated('n', { [MIRROR]: 'x' }, {}, '/status'),
]

export const annotationCases = (): readonly Case[] => [
  { name: 'annotations of new pods and templates', steps: texts },
  { name: 'annotations beside fields', steps: besideFields },
  { name: 'annotations of pods later', steps: changes },
]
