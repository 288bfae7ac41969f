import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../api/object.ts'
import type { References } from './configmaps-and-secrets.ts'
import { environmentOf } from './container-environment.ts'
import { EnvFileError } from './env-file.ts'
import type { Container, Pod } from './pod.ts'

const map: KubeObject = { kind: 'ConfigMap', apiVersion: 'v1', metadata: {}, data: { key: 'value', __proto__x: 'y' } }
const secret: KubeObject = { kind: 'Secret', apiVersion: 'v1', metadata: {}, data: { key: 'c2VjcmV0' } }
const references: References = {
  configMap: async (_, name) => (name === 'map' ? map : undefined),
  secret: async (_, name) => (name === 'secret' ? secret : undefined),
  trustBundles: async () => [],
  renew() {},
  ended() {},
}
const pod = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p', namespace: 'ns', uid: 'u', labels: { app: 'a' } },
  spec: { nodeName: 'n' },
} as unknown as Pod
const place = { hostIPs: ['172.18.0.2'], podIPs: ['10.244.0.2'] }
const environment = (container: object) => environmentOf(pod, container as Container, references, place)

test('variables come from values, fields, ConfigMaps and Secrets, later ones winning', async () => {
  const env = await environment({
    envFrom: [{ configMapRef: { name: 'map' } }, { prefix: 'S_', secretRef: { name: 'secret' } }],
    env: [
      { name: 'PLAIN', value: 'x' },
      { name: 'key', value: 'own' },
      { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      { name: 'APP', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
      { name: 'SECRET', valueFrom: { secretKeyRef: { name: 'secret', key: 'key' } } },
      { name: 'NONE', valueFrom: { configMapKeyRef: { name: 'other', key: 'key', optional: true } } },
    ],
  })
  assert.deepEqual(
    { ...env },
    { key: 'own', __proto__x: 'y', S_key: 'secret', PLAIN: 'x', IP: '10.244.0.2', APP: 'a', SECRET: 'secret' },
  )
})

test('addresses of both families are told as a list, the first alone as one', async () => {
  const field = (name: string) => ({ name, valueFrom: { fieldRef: { fieldPath: `status.${name}` } } })
  const both = { hostIPs: ['172.18.0.2', 'fd00:172:18::2'], podIPs: ['10.244.0.2', 'fd00:10:244::2'] }
  const container = { env: ['hostIP', 'hostIPs', 'podIP', 'podIPs'].map(field) } as unknown as Container
  assert.deepEqual(
    { ...(await environmentOf(pod, container, references, both)) },
    {
      hostIP: '172.18.0.2',
      hostIPs: '172.18.0.2,fd00:172:18::2',
      podIP: '10.244.0.2',
      podIPs: '10.244.0.2,fd00:10:244::2',
    },
  )
})

test('what is missing is named', async () => {
  const refer = (ref: object) => environment({ env: [{ name: 'A', valueFrom: ref }] })
  await assert.rejects(refer({ configMapKeyRef: { name: 'no', key: 'k' } }), /^Error: configmap "no" not found$/)
  await assert.rejects(refer({ secretKeyRef: { name: 'no', key: 'k' } }), /^Error: secret "no" not found$/)
  await assert.rejects(
    refer({ configMapKeyRef: { name: 'map', key: 'toString' } }),
    /^Error: couldn't find key toString in ConfigMap ns\/map$/,
  )
})

test('a variable of a file that another container has written; without its file the container is not begun', async () => {
  const files: Readonly<Record<string, string>> = { 'v/a': "A='1'\n" }
  const volumeFile = (volume: string, path: string) => {
    const text = files[`${volume}/${path}`]
    if (text === undefined) throw new EnvFileError()
    return { text, file: `/at/${path}` }
  }
  const of = async (path: string, key: string, optional = false) => {
    const container = { env: [{ name: 'V', valueFrom: { fileKeyRef: { volumeName: 'v', path, key, optional } } }] }
    return { ...(await environmentOf(pod, container as unknown as Container, references, { ...place, volumeFile })) }
  }
  assert.deepEqual(await of('a', 'A'), { V: '1' })
  assert.deepEqual(await of('a', 'B', true), {})
  await assert.rejects(of('a', 'B'), { message: 'environment variable key "B" not found in file "/at/a"' })
  await assert.rejects(of('b', 'A', true), { message: "couldn't parse env file" })
})
