import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stringify } from 'yaml'
import type { JsonObject } from '../../api/object.ts'
import { admissionConfigurations } from './configuration.ts'

const loaded = (plugins: unknown, more: JsonObject = {}) =>
  admissionConfigurations(
    stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration', plugins, ...more }),
    '',
  )
const SECURITY = { apiVersion: 'pod-security.admission.config.k8s.io/v1', kind: 'PodSecurityConfiguration' }
const LIMITS = { apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1', kind: 'Configuration' }

test('what a configuration asks for and does not mean anything here is refused, and so is what is of another type', () => {
  for (const [name, configuration, message] of [
    ['PodSecurity', { defaults: {} }, `Object 'Kind' is missing in '{"defaults":{}}'`],
    ['PodSecurity', { ...SECURITY, default: {} }, 'strict decoding error: unknown field "default"'],
    [
      'PodSecurity',
      { ...SECURITY, exemptions: { namespaces: 'a' } },
      'json: cannot unmarshal string into Go struct field PodSecurityExemptions.exemptions.namespaces of type []string',
    ],
    [
      'EventRateLimit',
      { ...LIMITS, limits: [{ qps: 1.5 }] },
      'json: cannot unmarshal number 1.5 into Go struct field Limit.limits.qps of type int32',
    ],
    [
      'ValidatingAdmissionWebhook',
      { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'WebhookAdmissionConfiguration', kubeConfigFile: '/x' },
      'skiff does not go by kubeConfigFile: leave it out',
    ],
  ] as const)
    assert.throws(() => loaded([{ name, configuration }])(name), { message })
  const unread = 'failed to apply admission: failed to read plugin config: '
  assert.throws(() => loaded([], { plugns: [] }), {
    message: `${unread}strict decoding error: unknown field "plugns"`,
  })
  assert.equal(loaded([{ name: 'constructor', configuration: 1 }])('constructor'), undefined)
})

test('each plugin has its own', () => {
  const configuration = { ...SECURITY, defaults: { enforce: 'baseline' }, exemptions: { namespaces: ['a'] } }
  const of = loaded([{ name: 'PodSecurity', configuration }, { name: 'EventRateLimit' }])
  assert.deepEqual(of('PodSecurity'), configuration)
  assert.equal(of('EventRateLimit'), undefined)
})
