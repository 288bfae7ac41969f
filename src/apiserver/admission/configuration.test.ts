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
const TOLERATIONS = { apiVersion: 'podtolerationrestriction.admission.k8s.io/v1alpha1', kind: 'Configuration' }

test('a configuration that would be passed over in part is refused, with the path', () => {
  for (const [name, configuration, message] of [
    ['PodSecurity', { defaults: {} }, `Object 'Kind' is missing in '{"defaults":{}}'`],
    ['PodSecurity', { ...SECURITY, kind: 'Foo' }, `no kind "Foo" is registered for version "${SECURITY.apiVersion}"`],
    ['PodSecurity', LIMITS, `no kind "Configuration" is registered for version "${LIMITS.apiVersion}"`],
    ['PodSecurity', { ...SECURITY, default: {} }, 'strict decoding error: unknown field "default"'],
    [
      'PodSecurity',
      { ...SECURITY, exemptions: { usernams: [] } },
      'strict decoding error: unknown field "exemptions.usernams"',
    ],
    ['PodSecurity', { ...SECURITY, exemptions: { namespaces: 'a' } }, 'exemptions.namespaces: must be a list'],
    [
      'PodSecurity',
      { ...SECURITY, exemptions: { namespaces: ['a', 1] } },
      'exemptions.namespaces[1]: must be a string',
    ],
    ['PodSecurity', { ...SECURITY, defaults: [] }, 'defaults: must be an object'],
    ['EventRateLimit', { ...LIMITS, limits: [{ qps: 1.5 }] }, 'limits[0].qps: must be an integer'],
    ['PodTolerationRestriction', { ...TOLERATIONS, whitelst: [] }, 'strict decoding error: unknown field "whitelst"'],
  ] as const)
    assert.throws(() => loaded([{ name, configuration }]), {
      message: `couldn't init admission plugin "${name}": ${message}`,
    })
  assert.throws(() => loaded('none'), { message: 'plugins: must be a list' })
  assert.throws(() => loaded([], { plugns: [] }), { message: 'strict decoding error: unknown field "plugns"' })
  assert.throws(() => loaded([{ name: 'constructor' }]), /goes by no configuration here/)
})

test('each plugin has its own', () => {
  const configuration = { ...SECURITY, defaults: { enforce: 'baseline' }, exemptions: { namespaces: ['a'] } }
  assert.deepEqual(loaded([{ name: 'PodSecurity', configuration }, { name: 'EventRateLimit' }]), {
    PodSecurity: configuration,
  })
})
