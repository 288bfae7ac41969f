import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiResponse, RequestInfo, UserInfo } from '../../api/request.ts'
import { notFound } from '../../api/status.ts'
import type { Runtime } from '../../base/runtime.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { encodeHeader } from '../../http/header-text.ts'
import { audit } from '../filters/audit.ts'
import { turnedAway } from '../filters/authentication.ts'
import { servedAnew } from '../request/served.ts'
import type { ServerRequest } from '../request/server-request.ts'
import { type AuditEvent, logBackend } from './backend.ts'
import type { AuditLog } from './log.ts'
import { type AuditPolicy, parsePolicy, unknownFields } from './policy.ts'

const alice: UserInfo = { name: 'alice', groups: ['dev', 'system:authenticated'] }

function info(more: Partial<RequestInfo> = {}): RequestInfo {
  return {
    isResource: true,
    verb: 'get',
    path: '/api/v1/namespaces/n/secrets/s',
    group: '',
    version: 'v1',
    resource: 'secrets',
    subresource: '',
    namespace: 'n',
    name: 's',
    ...more,
  }
}

const policyText = (rules: string) =>
  `apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n${rules}`

test('misspelt fields of a policy are named', () => {
  const text = policyText('- {level: None, user: [a], resources: [{group: "", resource: [pods]}]}\n- {level: Metadata}')
  assert.deepEqual(unknownFields(`${text}\nomit: []`), ['omit', 'rules[0].resources[0].resource', 'rules[0].user'])
  assert.deepEqual(unknownFields(policyText('- {level: None, users: [a]}')), [])
})

test('the first rule that matches decides, and a request that none matches is not told', () => {
  const policy = parsePolicy(
    policyText(`
- {level: None, users: [system:kube-proxy]}
- {level: Metadata, resources: [{group: "", resources: [secrets]}]}
- {level: Request, verbs: [create], namespaces: ['n']}
- {level: RequestResponse, nonResourceURLs: [/healthz*]}
`),
  )
  assert.equal(policy.verdict({ name: 'system:kube-proxy', groups: [] }, info()).level, 'None')
  assert.equal(policy.verdict(alice, info()).level, 'Metadata')
  assert.equal(policy.verdict(alice, info({ resource: 'pods', verb: 'create' })).level, 'Request')
  assert.equal(policy.verdict(alice, info({ resource: 'pods' })).level, 'None')
  assert.equal(policy.verdict(alice, info({ isResource: false, path: '/healthz/ping' })).level, 'RequestResponse')
  // A rule about a resource is not about its subresources.
  assert.equal(policy.verdict(alice, info({ subresource: 'status' })).level, 'None')
})

for (const [what, text, message] of [
  ['of another kind', 'kind: Pod', /unknown group version field audit.k8s.io\/__internal, Kind=Policy in policy$/],
  ['without rules', 'apiVersion: audit.k8s.io/v1\nkind: Policy', /loaded illegal policy with 0 rules$/],
  [
    'with an unknown level',
    policyText('- {level: Everything}'),
    /rules\[0\].level: Unsupported value: "Everything": supported values: "None", "Metadata"/,
  ],
  [
    'that is not YAML',
    '{',
    /failed decoding: couldn't get version\/kind; json parse error: unexpected end of JSON input$/,
  ],
  ['with a path that is none', policyText('- {level: None, nonResourceURLs: [x]}'), /must begin with a '\/'/],
  ['with a star within a path', policyText('- {level: None, nonResourceURLs: [/a*b]}'), /final character/],
  [
    'with a group that is none',
    policyText('- {level: None, resources: [{group: a/b}]}'),
    /rules\[0\].resources.group: Invalid value: "a\/b": a lowercase RFC 1123 subdomain/,
  ],
  ['with names of nothing', policyText('- {level: None, resources: [{resourceNames: [a]}]}'), /resourceNames/],
  [
    'with resources that are no list',
    policyText('- {level: None, resources: pods}'),
    /cannot unmarshal string into Go struct field PolicyRule.rules.resources of type \[\]v1.GroupResources$/,
  ],
  [
    'with a resource that is no name',
    policyText('- {level: None, resources: [{resources: pods}]}'),
    /Go struct field GroupResources.rules.resources.resources of type \[\]string$/,
  ],
  [
    'that mixes resources and URLs',
    policyText('- {level: None, nonResourceURLs: [/x], namespaces: [a]}'),
    /rules\[0\].nonResourceURLs: Invalid value: \["\/x"\]: rules cannot apply to both/,
  ],
] as const)
  test(`a policy ${what} is refused with the reason`, () => {
    assert.throws(() => parsePolicy(text), message)
  })

test('all that is wrong with a policy is told at once, in the order of a kube-apiserver v1.37.1', () => {
  const rule = '- {level: X, nonResourceURLs: [a], resources: [{resourceNames: [x]}], omitStages: [Z]}\n- {}'
  const stages = 'allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic'
  assert.throws(() => parsePolicy(policyText(rule).replace('[RequestReceived]', '[Q]')), {
    message: `[${[
      `omitStages[0]: Invalid value: "Q": ${stages}`,
      'rules[0].level: Unsupported value: "X": supported values: "None", "Metadata", "Request", "RequestResponse"',
      `rules[0].nonResourceURLs[0]: Invalid value: "a": non-resource URL rules must begin with a '/' character`,
      'rules[0].resources.resourceNames: Invalid value: ["x"]: using resourceNames requires at least one resource',
      `rules[0].omitStages[0]: Invalid value: "Z": ${stages}`,
      'rules[0].nonResourceURLs: Invalid value: ["a"]: rules cannot apply to both regular resources and non-resource URLs',
      'rules[1].level: Required value',
    ].join(', ')}]`,
  })
})

function memoryLog(): AuditLog & { readonly events: () => { [field: string]: unknown }[] } {
  const lines: string[] = []
  return {
    behind: 0,
    append: async (event) => {
      lines.push(event.text())
    },
    note: (event) => {
      lines.push(event.text())
    },
    close: async () => {},
    events: () => lines.map((line) => JSON.parse(line)),
  }
}

function request(): ServerRequest {
  return {
    method: 'GET',
    path: info().path,
    query: new URLSearchParams('x=1'),
    headers: { 'user-agent': 'kubectl' },
    user: alice,
    info: info(),
    served: servedAnew(),
    signal: new AbortController().signal,
  }
}

const everything: AuditPolicy = {
  verdict: () => ({ level: 'RequestResponse', omitStages: new Set(), omitManagedFields: true }),
}

test('a request is told when it comes and when it is answered, without managedFields when the policy says so', async () => {
  const log = memoryLog()
  const answer: ApiResponse = {
    kind: 'object',
    status: 200,
    object: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', managedFields: [] } },
  }
  await audit(simulatedRuntime(1), everything, [logBackend(log)])(async () => answer)(request())
  const [received, complete] = log.events()
  assert.equal(received?.['stage'], 'RequestReceived')
  assert.equal(complete?.['stage'], 'ResponseComplete')
  assert.equal(complete?.['auditID'], received?.['auditID'])
  assert.equal(complete?.['requestURI'], '/api/v1/namespaces/n/secrets/s?x=1')
  assert.deepEqual(complete?.['responseStatus'], { metadata: {}, code: 200 })
  assert.deepEqual((complete?.['responseObject'] as { metadata: unknown } | undefined)?.metadata, { name: 's' })
  assert.deepEqual(complete?.['objectRef'], { resource: 'secrets', namespace: 'n', name: 's', apiVersion: 'v1' })
})

test('what is refused is told with its status', async () => {
  const log = memoryLog()
  const handler = audit(simulatedRuntime(1), everything, [logBackend(log)])(async () => {
    throw notFound({ group: '', resource: 'secrets' }, 's')
  })
  await assert.rejects(async () => handler(request()), /not found/)
  assert.equal((log.events().at(-1)?.['responseStatus'] as { code: number } | undefined)?.code, 404)
})

test('who is nobody is told once, when refused, without a user', async () => {
  const log = memoryLog()
  const handler = audit(simulatedRuntime(1), everything, [logBackend(log)])(turnedAway)
  const { user: _, ...nobody } = request()
  await assert.rejects(async () => handler(nobody), /Unauthorized/)
  const [event, more] = log.events()
  assert.equal(more, undefined)
  assert.equal(event?.['stage'], 'ResponseStarted')
  assert.deepEqual(event?.['user'], {})
  assert.equal((event?.['responseStatus'] as { code: number } | undefined)?.code, 401)
})

test('a watch is told when it starts and when it ends', async () => {
  const log = memoryLog()
  const ending = new AbortController()
  const answer = { kind: 'watch', status: 200, contentType: 'application/json' } as ApiResponse
  await audit(simulatedRuntime(1), everything, [logBackend(log)])(async () => answer)({
    ...request(),
    signal: ending.signal,
  })
  const stages = () => log.events().map(({ stage }) => stage)
  assert.deepEqual(stages(), ['RequestReceived', 'ResponseStarted'])
  ending.abort()
  assert.deepEqual(stages(), ['RequestReceived', 'ResponseStarted', 'ResponseComplete'])
})

test('an object is named by the body where the path does not name it, and by whom it is impersonated', async () => {
  const log = memoryLog()
  const answer: ApiResponse = { kind: 'bytes', status: 201, contentType: 'text/plain', bytes: [] }
  const handler = audit(simulatedRuntime(1), everything, [logBackend(log)])(async ({ served }) => {
    const record = served?.audit
    if (record !== undefined) {
      record.requestObject = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'made', uid: 'u', resourceVersion: '5' },
      }
      record.impersonatedUser = alice
      record.impersonationConstraint = 'impersonate:user-info'
    }
    return answer
  })
  await handler({ ...request(), info: info({ verb: 'create', name: '' }) })
  const event = log.events().at(-1)
  assert.deepEqual(event?.['objectRef'], {
    resource: 'secrets',
    namespace: 'n',
    name: 'made',
    uid: 'u',
    apiVersion: 'v1',
    resourceVersion: '5',
  })
  assert.deepEqual(event?.['authenticationMetadata'], { impersonationConstraint: 'impersonate:user-info' })
})

test('requests for the same thing are told as each of them was, whoever asked before', async () => {
  const log = memoryLog()
  const handler = audit(simulatedRuntime(1), everything, [logBackend(log)])(() => answered)
  const same = info()
  const bob: UserInfo = { name: 'bob', groups: [] }
  const from = (remoteAddress: string) => ({ connection: { remoteAddress } })
  const asked: readonly (readonly [Partial<ServerRequest>, Record<string, unknown>])[] = [
    [{}, {}],
    [{ user: bob }, { user: { username: 'bob' } }],
    [{}, {}],
    [from('10.0.0.7'), { sourceIPs: ['10.0.0.7'] }],
    [{ headers: { 'user-agent': 'curl' } }, { userAgent: 'curl' }],
    // As Node has it: a character for each byte.
    [{ headers: { 'user-agent': 'J\u00c3\u00bcrgen/1' } }, { userAgent: 'Jürgen/1' }],
    [{ headers: { 'user-agent': 'J\u00fcrgen/1' } }, { userAgent: 'J\ufffdrgen/1' }],
    [{ query: new URLSearchParams('y=2') }, { requestURI: `${same.path}?y=2` }],
    [{ headers: { 'user-agent': 'kubectl', 'x-real-ip': '10.0.0.8' } }, { sourceIPs: ['10.0.0.8', '127.0.0.1'] }],
    [{ headers: {} }, { userAgent: undefined }],
    [{}, {}],
  ]
  const usual = {
    user: { username: 'alice', groups: alice.groups },
    sourceIPs: ['127.0.0.1'],
    userAgent: 'kubectl',
    requestURI: `${same.path}?x=1`,
  }
  for (const [more, told] of asked) {
    await handler({ ...request(), ...more, info: same })
    const event = log.events().at(-1) ?? {}
    const { user, sourceIPs, userAgent, requestURI } = event
    assert.deepEqual({ user, sourceIPs, userAgent, requestURI }, { ...usual, ...told })
  }
})

const quiet: AuditPolicy = {
  verdict: () => ({ level: 'Metadata', omitStages: new Set(['RequestReceived' as const]), omitManagedFields: false }),
}
const answered: ApiResponse = { kind: 'bytes', status: 200, contentType: 'text/plain', bytes: [] }
const changing = () => ({ ...request(), info: info({ verb: 'create', name: '' }) })

test('an event that cannot be written is told of, and its request answered', async () => {
  const append = async () => Promise.reject(new Error('disk full'))
  const note: AuditLog['note'] = (event) => event.lost(new Error('disk full'))
  const broken: AuditLog = { behind: 0, append, note, close: async () => {} }
  const runtime = simulatedRuntime(1)
  const errors: string[] = []
  const log = { ...runtime.log, error: (message: string) => errors.push(message) }
  const handler = audit({ ...runtime, log: { ...log, named: () => log } } as Runtime, quiet, [logBackend(broken)])(
    () => answered,
  )
  assert.equal(await handler(changing()), answered)
  assert.equal(handler(request()), answered)
  await runtime.advance(0)
  assert.deepEqual(errors, ['audit events are lost', 'audit events are lost'])
})

test('what is lost together is told in one line that counts it', async () => {
  const runtime = simulatedRuntime(1)
  type Told = { readonly plugin: string; readonly events: number }
  const told: Told[] = []
  const log = { ...runtime.log, error: (_message: string, _error: unknown, more: Told) => void told.push(more) }
  const batch: AuditEvent[] = []
  const handler = audit({ ...runtime, log: { ...log, named: () => log } } as Runtime, quiet, [
    { take: (event) => void batch.push(event), close: async () => {} },
  ])(() => answered)
  for (const _ of [1, 2, 3]) void handler(request())
  const [down, full] = [new Error('down'), new Error('full')]
  for (const event of batch.slice(1)) event.lost(down, 'webhook')
  batch[0]?.lost(full, 'buffered')
  await runtime.advance(0)
  batch[0]?.lost(down, 'webhook')
  await runtime.advance(0)
  assert.deepEqual(
    told.map(({ plugin, events }) => [plugin, events]),
    [
      ['webhook', 2],
      ['buffered', 1],
      ['webhook', 1],
    ],
  )
})

test('whatever a request is made of, its event is JSON on one line', async () => {
  const log = memoryLog()
  const odd = 'a"b\\c\u0000\n\u2028é'
  const user: UserInfo = { name: odd, groups: [odd], extra: { [odd]: [odd] } }
  const asked = {
    ...request(),
    path: `/${odd}`,
    auditId: odd,
    user,
    headers: { 'user-agent': encodeHeader(odd), 'x-real-ip': odd },
  }
  const object = { apiVersion: odd, kind: odd, metadata: { name: odd }, data: { [odd]: 2n ** 60n } }
  const handler = audit(simulatedRuntime(1), everything, [logBackend(log)])((told) => {
    told.served!.audit!.annotations[odd] = odd
    told.served!.audit!.impersonatedUser = user
    return { kind: 'object', status: 200, object } as ApiResponse
  })
  await handler({
    ...asked,
    info: info({ verb: 'create', name: odd, namespace: odd, resource: odd, subresource: odd }),
  })
  const event = log.events().at(-1) as Record<string, { [field: string]: unknown }>
  assert.deepEqual([event['userAgent'], event['auditID']], [odd, odd])
  assert.deepEqual(
    [event['user'], event['impersonatedUser']],
    [{ username: odd, groups: [odd], extra: { [odd]: [odd] } }, event['user']],
  )
  assert.deepEqual(event['objectRef'], { resource: odd, namespace: odd, name: odd, apiVersion: 'v1', subresource: odd })
  assert.deepEqual(event['annotations'], { [odd]: odd })
  assert.equal(event['responseObject']!['kind'], odd)
})

/** Events behind at which reads wait too. */
const FAR = 9_000

test('a change is answered once its event is written; a read at once, until the log is far behind', async () => {
  let written = () => {}
  const slow = (behind: number): AuditLog => ({
    behind,
    append: () => new Promise((resolve) => (written = resolve)),
    note: () => {},
    close: async () => {},
  })
  const through = (behind: number) => audit(simulatedRuntime(1), quiet, [logBackend(slow(behind))])(() => answered)
  assert.equal(through(0)(request()), answered)
  for (const waiting of [through(0)(changing()), through(FAR)(request())]) {
    assert.ok(waiting instanceof Promise)
    let done = false
    void waiting.then(() => (done = true))
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(done, false)
  }
  const last = through(FAR)(request())
  written()
  assert.equal(await last, answered)
})

test('what is told of the beginning of a request is what was known then', async () => {
  const noted: { text(): string }[] = []
  const log = { ...memoryLog(), note: (event: { text(): string }) => noted.push(event) } as AuditLog
  await audit(simulatedRuntime(1), everything, [logBackend(log)])((told) => {
    told.served!.audit!.annotations['a'] = 'b'
    return answered
  })(request())
  const [received, complete] = noted.map((event) => JSON.parse(event.text()))
  assert.equal(received.annotations, undefined)
  assert.deepEqual(complete.annotations, { a: 'b' })
})
