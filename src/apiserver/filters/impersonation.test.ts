import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest, ApiResponse, UserInfo } from '../../api/request.ts'
import type { StatusError } from '../../api/status.ts'
import { type Attributes, type Authorizer, noOpinion } from '../auth/authorizer.ts'
import { impersonation } from './impersonation-headers.ts'

const sender: UserInfo = { name: 'alice', groups: ['system:authenticated'] }
const answer: ApiResponse = { kind: 'bytes', status: 200, contentType: 'text/plain', bytes: [] }

function allowing(...rights: readonly string[]): Authorizer {
  const right = ({ verb, group, resource, name }: Attributes) => `${verb} ${group}/${resource} ${name}`
  return { authorize: (a) => (rights.includes(right(a)) ? { verdict: 'allow', reason: '' } : noOpinion) }
}

type GoesOn = (headers: Record<string, string>, user?: UserInfo) => Promise<ApiRequest>

function through(authorizer: Authorizer): GoesOn {
  let seen: ApiRequest | undefined
  const handler = impersonation(authorizer)(async (request) => {
    seen = request
    return answer
  })
  return async (headers, user = sender) => {
    await handler({
      method: 'GET',
      path: '/api/v1/namespaces/n/pods',
      query: new URLSearchParams(),
      headers,
      user,
      info: {
        isResource: true,
        verb: 'list',
        path: '/api/v1/namespaces/n/pods',
        group: '',
        version: 'v1',
        resource: 'pods',
        subresource: '',
        namespace: 'n',
        name: '',
      },
      signal: new AbortController().signal,
    })
    return seen!
  }
}

const goesOnAs = (authorizer: Authorizer, headers: Record<string, string>) => through(authorizer)(headers)

test('a request without the headers stays who it is', async () => {
  assert.equal((await goesOnAs(allowing(), {})).user, sender)
})

test('who may impersonate a user becomes that user, and the headers are gone', async () => {
  const request = await goesOnAs(allowing('impersonate /users bob'), { 'impersonate-user': 'bob', accept: 'x' })
  assert.deepEqual(request.user, { name: 'bob', groups: ['system:authenticated'] })
  assert.deepEqual(request.headers, { accept: 'x' })
})

test('a service account brings its groups', async () => {
  const request = await goesOnAs(allowing('impersonate /serviceaccounts x'), {
    'impersonate-user': 'system:serviceaccount:d:x',
  })
  assert.deepEqual(request.user?.groups, ['system:serviceaccounts', 'system:serviceaccounts:d', 'system:authenticated'])
})

test('every part of the wanted user is asked for: one right missing refuses the whole', async () => {
  const headers = { 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' }
  await assert.rejects(
    goesOnAs(allowing('impersonate /users bob'), headers),
    (error: StatusError) => error.code === 403,
  )
})

test('groups without a user are a bad request', async () => {
  await assert.rejects(
    async () => goesOnAs(allowing(), { 'impersonate-group': 'g' }),
    (error: StatusError) =>
      error.code === 400 &&
      error.message.includes('without impersonating a user name') &&
      error.headers?.['x-content-type-options'] === 'nosniff',
  )
})

test('the constrained form needs both the deed and the person', async () => {
  const deed = 'impersonate-on:user-info:list /pods '
  const person = 'impersonate:user-info authentication.k8s.io/users bob'
  const headers = { 'impersonate-user': 'bob' }
  assert.equal((await goesOnAs(allowing(deed, person), headers)).user?.name, 'bob')
  await assert.rejects(goesOnAs(allowing(deed), headers), /cannot impersonate:user-info resource "users"/)
  await assert.rejects(goesOnAs(allowing(person), headers), /cannot impersonate-on:user-info:list resource "pods"/)
})

test('what let somebody through last is tried first, and its refusal is the one he is told', async () => {
  const goOn = through(
    allowing(
      'impersonate /users bob',
      'impersonate /users system:node:n',
      'impersonate:arbitrary-node authentication.k8s.io/nodes n',
      'impersonate-on:arbitrary-node:list /pods ',
    ),
  )
  const as = (name: string) => goOn({ 'impersonate-user': name })
  await assert.rejects(as('eve'), /cannot impersonate-on:user-info:list/)
  assert.deepEqual((await as('system:node:n')).user?.groups, ['system:nodes', 'system:authenticated'])
  await as('bob')
  await assert.rejects(as('eve'), /cannot impersonate resource "users"/)
  assert.deepEqual((await as('system:node:n')).user?.groups, ['system:authenticated'])
})

test('a pod may be let be the node it runs on, and no other', async () => {
  const goOn = through(
    allowing('impersonate:associated-node authentication.k8s.io/nodes *', 'impersonate-on:associated-node:list /pods '),
  )
  const pod = { ...sender, extra: { 'authentication.kubernetes.io/node-name': ['n'] } }
  const request = await goOn({ 'impersonate-user': 'system:node:n' }, pod)
  assert.deepEqual(request.user, { name: 'system:node:n', groups: ['system:nodes', 'system:authenticated'] })
  await assert.rejects(goOn({ 'impersonate-user': 'system:node:m' }, pod), /impersonate-on:arbitrary-node/)
  await assert.rejects(goOn({ 'impersonate-user': 'system:node:n' }), /impersonate-on:arbitrary-node/)
})
