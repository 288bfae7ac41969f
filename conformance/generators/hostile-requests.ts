/** Requests that an attacker or a broken client sends: paths, methods, queries, headers. Bodies are in hostile-bodies.ts. */
import type { Step } from '../recording.ts'

export const CM = '/api/v1/namespaces/$NS/configmaps'
export const POD = '/api/v1/namespaces/$NS/pods'
export const DEP = '/apis/apps/v1/namespaces/$NS/deployments'
export const GET = (p: string, h?: Record<string, string>): Step => ({ m: 'GET', p, ...(h ? { h } : {}) })
export const json = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
export const POST = (p: string, b: unknown, type?: string): Step => ({
  m: 'POST',
  p,
  b: json(b),
  ...(type === undefined ? {} : { h: { 'content-type': type } }),
})
export const PUT = (p: string, b: unknown): Step => ({ m: 'PUT', p, b: json(b) })
export const PATCH = (p: string, type: string, b: unknown): Step => ({
  m: 'PATCH',
  p,
  b: json(b),
  h: { 'content-type': type },
})
export const DELETE = (p: string, b?: unknown): Step => ({ m: 'DELETE', p, ...(b === undefined ? {} : { b: json(b) }) })
export const configMap = (name: string, more: Record<string, unknown> = {}, meta: Record<string, unknown> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...meta },
  ...more,
})

/** A long text, written shortly: it grows when it is sent. */
export const repeated = (text: string, times: number): string => `{{repeat ${text} ${times}}}`

/** Names that every object inherits in JavaScript: here they are names like any other. */
export const inherited = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf']

const long = 'x'.repeat(300)

const paths: readonly string[] = [
  `${CM}/..%2f..%2fsecrets`,
  `${CM}/a%2fb`,
  '//api/v1/namespaces/default',
  '/api//v1/namespaces/default',
  '/apis/batch/v1/namespaces//cronjobs?labelSelector=none',
  '/api/v1/namespaces/%20/configmaps',
  `${CM}/`,
  '/api/v1/namespaces/%2e%2e/configmaps',
  '/api/v1/../v1/namespaces/default',
  '/api/v1/./namespaces/default',
  `${CM}/a%00b`,
  `${CM}/%ff`,
  `${CM}/%zz`,
  `${CM}/a;b=c`,
  `${CM}/${long}`,
  `/api/v1/namespaces/${long}/configmaps`,
  '/API/v1/namespaces',
  '/api/V1/namespaces',
  '/api/v2',
  '/api/v1x/namespaces',
  '/apis/apps/v9/deployments',
  '/apis/apps/v1/nope',
  '/apis/nope.example.com/v1/x',
  '/apis/nope.example.com',
  '/apis/apps/v9',
  `${CM}/a/b/c/d`,
  `${CM}/a/status`,
  `${POD}/p/log/extra`,
  '/api/v1/namespaces/$NS/',
  '/api/v1/pods/p',
  '/api/v1/configmaps/x',
  '/api/',
  '/apis/apps/',
  '/apis/apps/v1/',
  '/api/v1/namespaces/$NS/nope',
  '/api/v1/namespaces/$NS/configmap',
  '/api/v1/namespaces/$NS/nodes',
  '/api/v1/nodes/n/status/x',
  `/api/v1/watch/namespaces/$NS/configmaps?timeoutSeconds=1&resourceVersion=abc`,
  '/api/v1/watch/namespaces/$NS/configmaps/x?fieldSelector=metadata.name%3Dy',
  '/api/v1/proxy/nodes/x',
  '/api/v1/namespaces/$NS/services/nope/proxy',
  '/api/v1/namespaces/$NS/services/https:nope:x/proxy/a/b',
  '/api/v1/nodes/nope/proxy/metrics',
  `${POD}/nope/log`,
  `${POD}/nope/log?container=x&tailLines=-1`,
  `${POD}/nope/log?follow=maybe`,
  `${POD}/nope/exec?command=ls`,
  `${POD}/nope/attach`,
  `${POD}/nope/portforward`,
  '/openapi/v3/apis/nope/v1',
  '/debug/pprof/nope',
  '/version/x',
  '/healthz/nope',
  '/livez/nope',
  '/readyz/etcd',
  '/healthz?exclude=nope',
  '/.well-known/nope',
  '/favicon.ico',
  '/..%2f',
  '/%',
  '/?%zz',
  '/apis/authentication.k8s.io/v1/tokenreviews',
  '/apis/authorization.k8s.io/v1/subjectaccessreviews/x',
  '/api/v1/namespaces/$NS/bindings',
  '/api/v1/componentstatuses/nope',
  '/api/v1/namespaces/$NS/serviceaccounts/nope/token',
  '/api/v1/namespaces/$NS/replicationcontrollers/nope/scale',
]

const inheritedPaths = inherited.flatMap((name) => [
  `/${name}`,
  `/api/${name}`,
  `/api/v1/${name}`,
  `/apis/${name}`,
  `/apis/apps/${name}/deployments`,
  `/api/v1/namespaces/$NS/${name}`,
  `${CM}/${name}`,
  `/api/v1/namespaces/${name}/configmaps`,
  `${CM}?labelSelector=${name}%3Dx`,
  `${CM}?fieldSelector=${name}%3Dx`,
  `${CM}?${name}=x`,
])

const methods: readonly Step[] = [
  { m: 'BOGUS', p: CM },
  { m: 'TRACE', p: CM },
  { m: 'OPTIONS', p: CM },
  { m: 'OPTIONS', p: '/' },
  { m: 'PROPFIND', p: '/api/v1/namespaces' },
  { m: 'PUT', p: CM, b: json(configMap('a')) },
  { m: 'PATCH', p: CM, b: '{}', h: { 'content-type': 'application/merge-patch+json' } },
  { m: 'POST', p: `${CM}/a`, b: json(configMap('a')) },
  { m: 'POST', p: '/api/v1/configmaps', b: json(configMap('a')) },
  { m: 'DELETE', p: '/api/v1/configmaps' },
  { m: 'DELETE', p: '/api/v1' },
  { m: 'POST', p: '/healthz' },
  { m: 'POST', p: '/version', b: '{}' },
  { m: 'DELETE', p: '/apis/authorization.k8s.io/v1/subjectaccessreviews' },
  { m: 'POST', p: `${POD}/p/status`, b: '{}' },
  { m: 'DELETE', p: `${DEP}/d/scale` },
  { m: 'PUT', p: '/api/v1/componentstatuses/x', b: '{}' },
  { m: 'POST', p: CM, b: json(configMap('a')), h: { 'x-http-method-override': 'DELETE' } },
]

const enc = encodeURIComponent
const token = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const queries: readonly string[] = [
  ...['-1', 'abc', '1.5', '99999999999999999999', '', '0x10'].map((v) => `limit=${v}`),
  'continue=abc',
  'continue=%00',
  `continue=${token({})}`,
  `continue=${token({ v: 'meta.k8s.io/v1' })}`,
  `continue=${token({ v: 'meta.k8s.io/v2', rv: 5, start: 'a' })}`,
  `continue=${token({ v: 'meta.k8s.io/v1', rv: 5, start: '../../secrets' })}`,
  `continue=${token({ v: 'meta.k8s.io/v1', rv: 5, start: '' })}`,
  `limit=1&continue=${token({ v: 'meta.k8s.io/v1', rv: 0, start: 'a\u0000' })}`,
  `continue=${token({ v: 'meta.k8s.io/v1', rv: -1, start: 'a\u0000' })}&resourceVersion=5`,
  `continue=${token([1])}`,
  ...['-1', 'abc', '1.5', '99999999999999999999', '+1', '0x1'].map((v) => `resourceVersion=${v}`),
  'resourceVersionMatch=Exact',
  'resourceVersionMatch=NotOlderThan',
  'resourceVersionMatch=Bogus&resourceVersion=1',
  'resourceVersionMatch=Exact&resourceVersion=0',
  'resourceVersionMatch=NotOlderThan&resourceVersion=0&limit=1',
  'resourceVersionMatch=Exact&resourceVersion=abc',
  'resourceVersionMatch=Exact&resourceVersion=1&continue=abc',
  'watch=abc&timeoutSeconds=1',
  'watch=true&timeoutSeconds=abc',
  'watch=true&timeoutSeconds=1&resourceVersion=abc',
  'watch=true&timeoutSeconds=1&resourceVersion=-5',
  'watch=true&timeoutSeconds=1&resourceVersion=1',
  'watch=true&timeoutSeconds=1&allowWatchBookmarks=abc&resourceVersion=0',
  'watch=true&timeoutSeconds=1&sendInitialEvents=true',
  'watch=true&timeoutSeconds=1&sendInitialEvents=abc',
  'watch=true&timeoutSeconds=1&resourceVersionMatch=Exact&resourceVersion=1',
  'watch=true&timeoutSeconds=1&resourceVersionMatch=NotOlderThan',
  'watch=true&timeoutSeconds=1&resourceVersionMatch=NotOlderThan&sendInitialEvents=false',
  'watch=true&timeoutSeconds=1&continue=abc',
  'watch=true&timeoutSeconds=1&labelSelector=%3D',
  'watch=true&timeoutSeconds=1&fieldSelector=spec.x%3D1',
  'sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
  'timeout=abc',
  'timeout=-1s',
  'timeout=0',
  'timeout=1000h',
  'timeoutSeconds=-1',
  ...['=', '!', 'a=b=c', 'a notin', ',', ',,', 'a,', '()', 'a in (x,,y)', 'a in ()', 'a>x', 'a>1', 'a<', 'a b', '-a=b'].map(
    (s) => `labelSelector=${enc(s)}`,
  ),
  ...['a/b/c=d', 'A'.repeat(64), `a=${'b'.repeat(64)}`, 'a=é', 'é', 'a in (b', 'a in b)', '\u0000', 'a==', 'a!=', '!a=b', 'a exists'].map(
    (s) => `labelSelector=${enc(s)}`,
  ),
  ...['metadata.name', '=', 'a=b,=', 'metadata.name=\\', 'metadata.name=a\\,b', 'metadata.name=\\x', 'spec.nodeName=x', '=x', 'metadata.name==a', ',', 'metadata.name!=', 'metadata.labels.a=b', 'metadata.uid=x'].map(
    (s) => `fieldSelector=${enc(s)}`,
  ),
  'pretty=abc',
  'foo=bar',
  'a=1;b=2',
  'limit=%zz',
  '&&&',
  '=&=',
  'limit=1&limit=2',
  'labelSelector=a&labelSelector=b',
]

const accepts: readonly string[] = [
  'text/html',
  '*/*',
  'application/*',
  'text/*',
  'application/json;q=0',
  'application/yaml',
  'application/cbor',
  'application/json;as=Table',
  'application/json;as=Table;v=v1beta1;g=meta.k8s.io',
  'application/json;as=Table;v=v9;g=meta.k8s.io',
  'application/json;as=Table;v=v1;g=nope',
  'application/json;as=Bogus;v=v1;g=meta.k8s.io',
  'application/json;as=__proto__;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/json;as=Bogus;v=v1;g=meta.k8s.io,application/json',
  'application/json;pretty=1',
  'application/json;profile=x',
  'application/json;export=1',
  'application/xml,application/json;q=0.1',
  ';;;',
  'json',
  'application/json;as=Table;v=v1;g=meta.k8s.io;includeObject=None',
  Array(200).fill('text/plain').join(','),
  `${Array(200).fill('text/plain').join(',')},application/json`,
]

const headers: readonly Record<string, string>[] = [
  { authorization: 'Bearer junk' },
  { authorization: 'Bearer' },
  { authorization: 'Basic YTpi' },
  { authorization: 'Bearer a.b.c' },
  { 'impersonate-user': 'x' },
  { 'impersonate-group': 'x' },
  { 'impersonate-uid': 'x' },
  { 'impersonate-extra-a': 'x' },
  { 'impersonate-user': 'x', 'impersonate-group': 'system:masters' },
  { 'impersonate-user': 'system:serviceaccount:a' },
  { 'impersonate-user': 'system:serviceaccount:$NS:default' },
  { range: 'bytes=0-1' },
  { 'if-match': '"x"' },
  { 'if-none-match': '*' },
  { 'if-modified-since': 'Sat, 29 Oct 2100 19:43:31 GMT' },
  { 'accept-encoding': 'br' },
  { 'accept-encoding': 'identity;q=0' },
  { connection: 'upgrade', upgrade: 'h2c' },
  { 'x-forwarded-for': '1.2.3.4, <script>', 'x-remote-user': 'root', 'x-remote-group': 'system:masters' },
  { 'user-agent': '' },
  { 'user-agent': '\u00ff/1' },
  { cookie: 'a'.repeat(8000) },
  { 'audit-id': 'mine' },
  { 'content-type': 'text/nonsense' },
]

const optionQueries: readonly string[] = [
  'dryRun=all',
  'dryRun=',
  'dryRun=All&dryRun=All',
  'dryRun=All&dryRun=None',
  `fieldManager=${'m'.repeat(129)}`,
  `fieldManager=${'m'.repeat(128)}`,
  'fieldManager=a%0Ab',
  `fieldManager=${enc('é')}`,
  'fieldValidation=strict',
  'fieldValidation=',
  'fieldValidation=Strict&fieldValidation=Ignore',
  'force=true',
  'force=abc',
  'fieldManager=__proto__',
]

const deleteQueries: readonly string[] = [
  'gracePeriodSeconds=99999999999999999999',
  'gracePeriodSeconds=1.5',
  'gracePeriodSeconds=-3',
  'orphanDependents=maybe',
  'orphanDependents=true&propagationPolicy=Foreground',
  'propagationPolicy=',
  'propagationPolicy=orphan',
  'propagationPolicy=Background&propagationPolicy=Orphan',
  'dryRun=Nope',
  'preconditions.uid=x',
  'preconditions=x',
  'ignoreStoreReadErrorWithClusterBreakingPotential=true',
  'ignoreStoreReadErrorWithClusterBreakingPotential=maybe',
]

/** Name and steps of each case. */
export function hostileRequests(): readonly (readonly [string, readonly Step[]])[] {
  return [
    ...[...paths, ...inheritedPaths].map((p) => [`GET ${p.slice(0, 120)}`, [GET(p)]] as const),
    ...methods.map((step) => [`${step.m} ${step.p}`, [step]] as const),
    ...queries.map((q) => [`list ?${q}`, [GET(`${CM}?${q}`)]] as const),
    ...accepts.map((accept) => [`accept ${accept.slice(0, 80)}`, [GET(`${CM}/a`, { accept }), GET(CM, { accept })]] as const),
    ...headers.map((h) => [`headers ${json(h).slice(0, 80)}`, [GET(`${CM}/a`, h)]] as const),
    ...optionQueries.map(
      (q) =>
        [
          `options ?${q.slice(0, 60)}`,
          [
            POST(`${CM}?${q}`, configMap('o', { data: { a: 'b' } })),
            PUT(`${CM}/o?${q}`, configMap('o', { data: { a: 'c' } })),
            PATCH(`${CM}/o?${q}`, 'application/merge-patch+json', { data: { a: 'd' } }),
            GET(`${CM}/o`),
          ],
        ] as const,
    ),
    ...deleteQueries.map(
      (q) => [`delete ?${q}`, [POST(CM, configMap('d')), DELETE(`${CM}/d?${q}`), GET(`${CM}/d`), DELETE(`${CM}?${q}`)]] as const,
    ),
  ]
}
