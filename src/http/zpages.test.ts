import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest } from '../api/request.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createZPages } from './zpages.ts'

const runtime = simulatedRuntime(1)
const pages = createZPages(runtime.clock, {
  component: 'apiserver',
  version: '1.37.1',
  paths: ['/flagz', '/healthz', '/livez', '/metrics', '/readyz', '/statusz', '/version'],
  flags: { 'oidc-client-id': 'x', 'authorization-mode': 'Node,RBAC' },
  separators: { Statusz: ': ', Flagz: ': ' },
})
const ask = (path: string, accept?: string) => {
  const answer = pages({
    method: 'GET',
    path,
    query: new URLSearchParams(),
    headers: { accept },
    signal: new AbortController().signal,
  } as ApiRequest)
  if (answer?.kind !== 'bytes') return undefined
  return {
    type: answer.contentType,
    text: Buffer.concat(answer.bytes).toString(),
    warning: answer.headers?.['warning'],
  }
}

test('flags are told as text, sorted', () => {
  const answer = ask('/flagz')
  assert.equal(answer?.type, 'text/plain; charset=utf-8')
  assert.match(
    answer?.text ?? '',
    /^\napiserver flagz\nWarning: .*\nauthorization-mode: Node,RBAC\noidc-client-id: x\n$/,
  )
})

test('how long it has been running is told as text, and as an object where its form is asked for', async () => {
  await runtime.advance(3_725_000)
  const text = ask('/statusz', 'text/plain')?.text ?? ''
  assert.match(text, /\nUp: 1 hr 02 min 05 sec\nGo version: /)
  assert.match(text, /\nStarted: [A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d UTC \d{4}\n/)
  const answer = ask('/statusz', 'application/json;v=v1beta1;g=config.k8s.io;as=Statusz')
  assert.equal(answer?.type, 'application/json;g=config.k8s.io;v=v1beta1;as=Statusz')
  const { kind, apiVersion, metadata, uptimeSeconds, binaryVersion, emulationVersion } = JSON.parse(answer?.text ?? '')
  assert.deepEqual(
    { kind, apiVersion, metadata, uptimeSeconds, binaryVersion, emulationVersion },
    {
      kind: 'Statusz',
      apiVersion: 'config.k8s.io/v1beta1',
      metadata: { name: 'apiserver' },
      uptimeSeconds: 3725,
      binaryVersion: '1.37.1',
      emulationVersion: '1.37',
    },
  )
  assert.equal(answer?.warning, undefined)
  for (const [path, as] of [
    ['/statusz', 'Statusz'],
    ['/flagz', 'Flagz'],
  ] as const)
    assert.equal(
      ask(path, `application/json;v=v1alpha1;g=config.k8s.io;as=${as}`)?.warning,
      `299 - "This version of the ${path.slice(1)} endpoint is deprecated. Please use a newer version."`,
    )
  assert.match(ask('/flagz', 'application/yaml;v=v1beta1;g=config.k8s.io;as=Flagz')?.text ?? '', /^apiVersion: config/)
})

test('plain JSON, and the form of the other page, are not acceptable', () => {
  for (const accept of ['application/json', 'text/html', 'application/json;v=v1beta1;g=config.k8s.io;as=Flagz'])
    assert.throws(() => ask('/statusz', accept), {
      code: 406,
      message: 'only the following media types are accepted: application/json, application/yaml, text/plain',
    })
  assert.equal(ask('/statusz/x'), undefined)
})
