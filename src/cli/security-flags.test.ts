import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import { booleanArgument, integerArgument, securityOptions } from './security-flags.ts'

/** What a command with these flags is given. @throws commander's error for what it refuses */
function parsed(...args: readonly string[]): Readonly<Record<string, unknown>> {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => {} })
  for (const option of securityOptions()) command.addOption(option)
  return command.parse(args, { from: 'user' }).opts()
}

test('a number is one, within its bounds', () => {
  const parse = integerArgument(1, 20)
  assert.deepEqual([parse('1'), parse('20'), parse('007')], [1, 20, 7])
  for (const text of ['0', '21', '-1', '1.5', '1e1', '0x5', '', ' 1', 'one'])
    assert.throws(() => parse(text), { message: 'must be a number from 1 to 20.' }, text)
  const signed = integerArgument(-1, 20)
  assert.equal(signed('-1'), -1)
  for (const text of ['-2', '--1', '-', '- 1'])
    assert.throws(() => signed(text), { message: 'must be a number from -1 to 20.' }, text)
})

test('a switch is written as Go writes it', () => {
  for (const text of ['1', 't', 'T', 'true', 'True', 'TRUE']) assert.equal(booleanArgument(text), true)
  for (const text of ['0', 'f', 'F', 'false', 'False', 'FALSE']) assert.equal(booleanArgument(text), false)
  for (const text of ['', 'yes', 'no', '2', 'truee'])
    assert.throws(() => booleanArgument(text), /must be true or false/)
  assert.equal(parsed('--anonymous-auth')['anonymousAuth'], true)
  assert.equal(parsed('--anonymous-auth=false')['anonymousAuth'], false)
  assert.equal(parsed()['anonymousAuth'], undefined)
})

test('modes of authorization are known, in order, and there once', () => {
  assert.deepEqual(parsed('--authorization-mode', 'RBAC,Node')['authorizationMode'], ['RBAC', 'Node'])
  assert.deepEqual(parsed('--authorization-mode=Node', '--authorization-mode=RBAC')['authorizationMode'], [
    'Node',
    'RBAC',
  ])
  assert.throws(() => parsed('--authorization-mode', 'Abac'), /there is no "Abac"; use Node, RBAC, Webhook, ABAC/)
  assert.throws(() => parsed('--authorization-mode', 'Node,Node'), /"Node" is there twice/)
  assert.throws(() => parsed('--authorization-mode=Node', '--authorization-mode=Node'), /"Node" is there twice/)
  assert.throws(() => parsed('--authorization-mode', ','), /must name at least one/)
})

test('a required claim has a name and a value', () => {
  assert.deepEqual(parsed('--oidc-required-claim', 'a=b=c', '--oidc-required-claim', 'd=')['oidcRequiredClaim'], [
    'a=b=c',
    'd=',
  ])
  for (const text of ['a', '=b', '']) assert.throws(() => parsed('--oidc-required-claim', text), /must be claim=value/)
})

test('a file says it all, or flags do', () => {
  assert.throws(() => parsed('--authentication-config', 'f', '--oidc-issuer-url', 'https://x'), /cannot be used with/)
  assert.throws(() => parsed('--authorization-config', 'f', '--authorization-mode', 'RBAC'), /cannot be used with/)
  assert.deepEqual(parsed('--authentication-config', 'f', '--token-auth-file', 't'), {
    authenticationConfig: 'f',
    tokenAuthFile: 't',
  })
})
