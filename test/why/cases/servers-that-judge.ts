/** Webhooks and policies that cases are made with, and waiting until they are in force. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Fields } from '../../../src/api/object.ts'
import type { Stage } from '../stage.ts'

const file = (name: string) => readFileSync(new URL(`../../../conformance/hook/${name}`, import.meta.url))

/** A webhook's server on this machine; `answer` is the response without its uid. */
export async function hookServer(answer: (request: Fields) => Fields) {
  const server = createServer({ cert: file('cert.pem'), key: file('key.pem') }, (incoming, outgoing) => {
    let text = ''
    incoming.on('data', (chunk) => {
      text += chunk
    })
    incoming.on('end', () => {
      const { apiVersion, kind, request } = JSON.parse(text)
      outgoing.end(JSON.stringify({ apiVersion, kind, response: { uid: request.uid, ...answer(request) } }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    clientConfig: {
      url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      caBundle: file('cert.pem').toString('base64'),
    },
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

export const hookConfig = (kind: string, name: string, rule: Fields, more: Fields): Fields => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: { name },
  webhooks: [
    {
      name: `${name}.acme.test`,
      rules: [{ apiVersions: ['*'], scope: '*', ...rule }],
      failurePolicy: 'Fail',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      timeoutSeconds: 2,
      ...more,
    },
  ],
})

/** A policy and its binding, which denies. */
export function policy(name: string, rule: Fields, spec: Fields): readonly [Fields, Fields] {
  const admission = 'admissionregistration.k8s.io/v1'
  const matchConstraints = { resourceRules: [{ apiVersions: ['*'], ...rule }] }
  return [
    {
      apiVersion: admission,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: { matchConstraints, ...spec },
    },
    {
      apiVersion: admission,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ]
}

/** A server takes what judges into force within a second or so: until an update of the object that is tried is refused. */
export async function settle(stage: Stage, object: Fields) {
  const body = { metadata: { finalizers: null, labels: { tried: 'yes' } } } as never
  for (let times = 0; times < 1000; times++) {
    const tried = stage.of(object).patch(object['metadata'].name, 'merge', body, { dryRun: true })
    const isRefused = await tried.then(
      () => false,
      () => true,
    )
    if (isRefused) return
  }
  throw new Error('what judges updates did not come into force')
}

export const conditionOf = (
  type: string,
  status: string,
  reason: string,
  message: string,
  lastTransitionTime = '2026-01-01T00:00:00Z',
) => ({ conditions: [{ type, status, reason, message, lastTransitionTime }] })
