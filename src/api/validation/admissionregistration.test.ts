import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldError } from '../errors/field-errors.ts'
import { operationsRule, webhookURL } from './admissionregistration.ts'

const rule = { operations: ['CREATE'], apiGroups: ['x'], apiVersions: ['v1'] }

// As a Kubernetes v1.37.1 answered on 2026-11-27.
const RESOURCES: readonly [readonly string[], readonly string[]][] = [
  [
    ['*/*', '*/b'],
    [
      "resources[1]: if '*/*' is present, must not specify */b",
      "resources: if '*/*' is present, must not specify other resources",
    ],
  ],
  [['*/b', 'a/b'], ["resources[1]: if '*/b' is present, must not specify a/b"]],
  [['a/b', 'a/*', '*/b'], []],
  [['a/*', 'a/*'], ["resources[1]: if 'a/*' is present, must not specify a/*"]],
  [['*', 'pods', '*'], []],
  [['*', 'a', 'a/b'], ["resources: if '*' is present, must not specify other resources without subresources"]],
]

test('resources of a rule are compared with those before them', () => {
  for (const [resources, expected] of RESOURCES) {
    const errors: FieldError[] = []
    operationsRule({ ...rule, resources }, 'r', errors)
    const told = errors.map(
      ({ field, message }) => `${field.slice(2)}: ${message.replace(/^Invalid value: .*?: if/, 'if')}`,
    )
    assert.deepEqual(told, expected, resources.join())
  }
})

const URLS = {
  '::': 'parse "::": missing protocol scheme',
  'https://x:y/': 'parse "https://x:y/": invalid port ":y" after host',
  'https://%zz/': 'parse "https://%zz/": invalid URL escape "%zz"',
  'https://a b/': 'parse "https://a b/": invalid character " " in host name',
}

test('the address of a webhook that is no URL is refused in the words of Go', () => {
  for (const [url, why] of Object.entries(URLS)) {
    const errors: FieldError[] = []
    webhookURL(url, 'url', errors)
    assert.equal(errors.length, 1, url)
    assert.ok(errors[0]?.message.includes(`url must be a valid URL: ${why}; desired`), errors[0]?.message)
  }
})
