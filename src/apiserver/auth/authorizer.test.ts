import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Attributes,
  type AuthorizationMode,
  type Decision,
  noOpinion,
  unionAuthorizer,
  withSuperusers,
} from './authorizer.ts'
import { createChain } from './chain.ts'
import { whenDecided } from './decided.ts'

const attributes: Attributes = {
  user: { name: 'jane', groups: [] },
  verb: 'get',
  isResource: true,
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'default',
  name: '',
  path: '',
}
const allow: Decision = { verdict: 'allow', reason: 'yes' }
const deny: Decision = { verdict: 'deny', reason: 'no' }
const mode = (name: string, answer: Decision | Promise<Decision>): AuthorizationMode => ({
  type: 'Webhook',
  name,
  authorizer: { authorize: () => answer },
})

test('the first that allows or denies decides, and nobody waits where nobody has to', () => {
  assert.equal(unionAuthorizer([mode('a', noOpinion), mode('b', allow), mode('c', deny)]).authorize(attributes), allow)
  assert.equal(unionAuthorizer([mode('a', deny), mode('b', allow)]).authorize(attributes), deny)
  assert.deepEqual(unionAuthorizer([]).authorize(attributes), noOpinion)
})

test('an answer that takes its time is waited for before the next is asked', async () => {
  const late = Promise.resolve(noOpinion)
  assert.equal(
    await unionAuthorizer([mode('a', late), mode('b', Promise.resolve(deny)), mode('c', allow)]).authorize(attributes),
    deny,
  )
  assert.equal(await unionAuthorizer([mode('a', late), mode('b', allow)]).authorize(attributes), allow)
})

test('reasons and errors of those without an opinion add up', async () => {
  const why = (reason: string, error?: string): Decision => ({
    verdict: 'no opinion',
    reason,
    ...(error === undefined ? {} : { error }),
  })
  const told = unionAuthorizer([
    mode('a', why('x', 'broken')),
    mode('b', Promise.resolve(why('', 'down'))),
    mode('c', why('y')),
  ])
  assert.deepEqual(await told.authorize(attributes), {
    verdict: 'no opinion',
    reason: 'a: x\nc: y',
    error: '[broken, down]',
  })
  assert.deepEqual(await unionAuthorizer([mode('a', why('', 'broken')), mode('b', allow)]).authorize(attributes), allow)
})

test('who decided is told', () => {
  const decided: string[] = []
  const told = unionAuthorizer([mode('a', noOpinion), mode('b', deny)], ({ name }, allowed) =>
    decided.push(`${name} ${allowed}`),
  )
  told.authorize(attributes)
  assert.deepEqual(decided, ['b false'])
})

test('system:masters may do anything where nothing is allowed', () => {
  const parts = {
    builtin: { Node: mode('n', allow).authorizer, RBAC: mode('r', allow).authorizer },
    onDecision: () => {},
    policies: [],
    endpointOf: () => ({ server: 'https://127.0.0.1:1' }),
  }
  const chain = createChain(undefined as never, [{ type: 'AlwaysDeny', name: 'alwaysdeny' }], parts)
  const authorizer = withSuperusers(chain)
  assert.deepEqual(authorizer.authorize(attributes), {
    verdict: 'no opinion',
    reason: 'alwaysdeny: Everything is forbidden.',
  })
  const master = { ...attributes, user: { name: 'root', groups: ['system:masters'] } }
  assert.equal((authorizer.authorize(master) as Decision).verdict, 'allow')
  const open = createChain(undefined as never, [{ type: 'AlwaysAllow', name: 'alwaysallow' }], parts)
  assert.equal((open.authorize(attributes) as Decision).verdict, 'allow')
})

test('what cannot wait is run again with each answer', async () => {
  let runs = 0
  const slow = { authorize: ({ verb }: Attributes) => Promise.resolve(verb === 'get' ? allow : deny) }
  const verdicts = whenDecided(slow, ({ authorize }) => {
    runs++
    return ['get', 'list', 'get'].map((verb) => authorize({ ...attributes, verb }).verdict)
  })
  assert.ok(verdicts instanceof Promise)
  assert.deepEqual(await verdicts, ['allow', 'deny', 'allow'])
  assert.equal(runs, 3)
  assert.equal(
    whenDecided({ authorize: () => allow }, ({ authorize }) => authorize(attributes).verdict),
    'allow',
  )
})
