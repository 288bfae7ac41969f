/**
 * The webhook server that recordings about admission webhooks are made and replayed with: each path is a way to answer. Its
 * certificate is its own authority, made for this purpose and trusted by nobody else.
 */
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { conversionResponse } from './conversion.ts'

const file = (name: string) => readFileSync(new URL(name, import.meta.url))

export interface HookServer {
  /** `https://127.0.0.1:port` */
  readonly url: string
  /** base64 of the certificate, as a caBundle. */
  readonly ca: string
  close(): void
}

// biome-ignore lint/suspicious/noExplicitAny: reviews of every kind
type Any = any

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
const patch = (operations: unknown) => ({ allowed: true, patchType: 'JSONPatch', patch: base64(operations) })
const label = (request: Any, key: string, value: string) =>
  request.object?.metadata?.labels
    ? patch([{ op: 'add', path: `/metadata/labels/${key}`, value }])
    : patch([{ op: 'add', path: '/metadata/labels', value: { [key]: value } }])

/** What a webhook is told, but for the objects' own contents. */
function told(request: Any): string {
  const { uid: _, object, oldObject, ...rest } = request
  const seen = (o: Any) =>
    o && {
      apiVersion: o.apiVersion,
      kind: o.kind,
      keys: Object.keys(o).sort(),
      meta: Object.keys(o.metadata ?? {}).sort(),
    }
  return JSON.stringify({ ...rest, object: seen(object), oldObject: seen(oldObject) })
}

const answers: Readonly<Record<string, (request: Any, query: URLSearchParams) => Any>> = {
  allow: () => ({ allowed: true }),
  deny: () => ({ allowed: false }),
  message: () => ({ allowed: false, status: { message: 'not today' } }),
  reason: () => ({ allowed: false, status: { reason: 'Because', code: 409 } }),
  status: () => ({
    allowed: false,
    status: {
      code: 422,
      reason: 'Invalid',
      message: 'm',
      details: { name: 'n', kind: 'k', causes: [{ message: 'c', field: 'f' }] },
    },
  }),
  ok: () => ({ allowed: false, status: { code: 200, status: 'Success' } }),
  warn: () => ({ allowed: true, warnings: ['first', 'second "quoted"'] }),
  denywarn: () => ({ allowed: false, warnings: ['before'], status: { message: 'no' } }),
  audit: () => ({ allowed: true, auditAnnotations: { key: 'value' } }),
  echo: (request) => ({ allowed: false, status: { message: told(request) } }),
  label: (request, query) => label(request, query.get('k') ?? 'hook', query.get('v') ?? 'yes'),
  count: (request) => label(request, 'count', String(Number(request.object?.metadata?.labels?.count ?? 0) + 1)),
  see: (request) =>
    label(
      request,
      'seen',
      Object.keys(request.object?.metadata?.labels ?? {})
        .sort()
        .join('.'),
    ),
  image: () => patch([{ op: 'replace', path: '/spec/containers/0/image', value: 'other:1' }]),
  container: () => patch([{ op: 'add', path: '/spec/containers/-', value: { name: 'extra', image: 'e' } }]),
  data: () => patch([{ op: 'add', path: '/data', value: { added: 'x' } }]),
  unknown: () => patch([{ op: 'add', path: '/spec/nonsense', value: 1 }]),
  missing: () => patch([{ op: 'remove', path: '/metadata/nothing' }]),
  test: () => patch([{ op: 'test', path: '/metadata/name', value: 'other' }]),
  badtype: () => patch([{ op: 'add', path: '/metadata/labels', value: 7 }]),
  empty: () => patch([]),
  rename: () => patch([{ op: 'replace', path: '/metadata/name', value: 'renamed' }]),
  notype: () => ({ allowed: true, patch: base64([]) }),
  nopatch: () => ({ allowed: true, patchType: 'JSONPatch' }),
  wrongtype: () => ({ allowed: true, patchType: 'Merge', patch: base64([]) }),
}

const HTTP: Readonly<Record<string, readonly [number, string]>> = {
  500: [500, 'broken'],
  503: [503, ''],
  404: [404, 'nothing here'],
  403: [403, 'go away'],
  401: [401, ''],
  400: [400, ''],
  302: [302, ''],
  text: [200, 'hello'],
  blank: [200, ''],
  noresponse: [200, '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}'],
  otherkind: [200, '{"apiVersion":"v1","kind":"Pod","response":{}}'],
  beta: [200, '{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","response":{"allowed":true}}'],
  nouid: [200, '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"allowed":true}}'],
}

/** Always at one port, so that what is recorded names it. */
export function startHookServer(port = 0): Promise<HookServer> {
  const cert = file('cert.pem')
  const server: Server = createServer({ cert, key: file('key.pem') }, (incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk) => chunks.push(chunk))
    incoming.on('end', () => {
      const url = new URL(incoming.url ?? '/', 'https://hook')
      const way = url.pathname.split('/').at(-1) ?? ''
      if (way === 'hang') return
      if (way === 'drop') return void incoming.socket.destroy()
      const fixed = HTTP[way]
      if (fixed !== undefined) {
        outgoing.writeHead(fixed[0], { 'content-type': 'application/json' })
        return void outgoing.end(fixed[1])
      }
      const review = JSON.parse(Buffer.concat(chunks).toString())
      if (url.pathname.startsWith('/convert/')) {
        outgoing.writeHead(200, { 'content-type': 'application/json' })
        return void outgoing.end(JSON.stringify(conversionResponse(way, review)))
      }
      const { request } = review
      const response = answers[way]?.(request, url.searchParams) ?? { allowed: true }
      outgoing.writeHead(200, { 'content-type': 'application/json' })
      outgoing.end(
        JSON.stringify({
          apiVersion: 'admission.k8s.io/v1',
          kind: 'AdmissionReview',
          response: { uid: way === 'wronguid' ? 'x' : request.uid, ...response },
        }),
      )
    })
  })
  return new Promise((resolve) => {
    server.listen(port, '127.0.0.1', () =>
      resolve({
        url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
        ca: cert.toString('base64'),
        close: () => {
          server.closeAllConnections()
          server.close()
        },
      }),
    )
  })
}
