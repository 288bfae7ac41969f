/** What pods/resize takes (KEP-1287), and what pods ask for as a whole (KEP-2837): as a Kubernetes v1.37.1 answered on 2026-11-27. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApi } from './harness.ts'

const PODS = '/api/v1/namespaces/n/pods'
const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' }
const MERGE = { 'content-type': 'application/merge-patch+json' }
const QUARTER = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } }

type Api = Awaited<ReturnType<typeof startTestApi>>

async function withApi(run: (api: Api) => Promise<void>): Promise<void> {
  const api = await startTestApi()
  try {
    await api.namespace('n')
    await run(api)
  } finally {
    await api.stop()
  }
}

const create = (api: Api, name: string, spec: object, metadata: object = {}) =>
  api.request('POST', PODS, { metadata: { name, ...metadata }, spec })

async function refusal(api: Api, name: string, spec: object, headers = STRATEGIC): Promise<string> {
  const { code, body } = await api.request('PATCH', `${PODS}/${name}/resize?dryRun=All`, { spec }, headers)
  return code === 200 ? 'ok' : body.message.replace(`Pod "${name}" is invalid: `, '')
}

test('a resize changes cpu and memory of the containers that are there, and nothing else', () =>
  withApi(async (api) => {
    await create(api, 'p', {
      containers: [{ name: 'c', image: 'x', resources: QUARTER }],
      initContainers: [
        { name: 'i', image: 'x', resources: QUARTER },
        { name: 's', image: 'x', restartPolicy: 'Always', resources: QUARTER },
      ],
    })
    const more = { requests: { cpu: '2' }, limits: { cpu: '2' } }
    const other = { requests: { 'foo.com/x': '2' }, limits: { 'foo.com/x': '2' } }
    const policy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }]
    const quality = 'spec: Invalid value: "Guaranteed": Pod QOS Class may not change as a result of resizing'
    const only = 'spec: Forbidden: only cpu and memory resources are mutable'
    const kept = (path: string, kind: string) =>
      `${path}.resources.${kind}: Forbidden: resource ${kind} cannot be removed`
    const first = 'spec.containers[0]'
    const cases: readonly (readonly [spec: object, answer: string, headers?: typeof MERGE])[] = [
      [{ containers: [{ name: 'c', resources: more }] }, 'ok'],
      [{ containers: [{ name: 'c', image: 'q' }], activeDeadlineSeconds: 5 }, 'ok'],
      [{ initContainers: [{ name: 's', resources: more }] }, 'ok'],
      [
        { containers: [{ name: 'q', image: 'q' }] },
        `[${quality}, spec.containers: Forbidden: containers may not be added or removed on resize]`,
      ],
      [
        { containers: [{ name: 'q', image: 'q' }] },
        `[${quality}, ${first}.name: Forbidden: containers may not be renamed or reordered on resize]`,
        MERGE,
      ],
      [{ containers: [{ name: 'c', resources: other }] }, only],
      [{ containers: [{ name: 'c', resizePolicy: policy }] }, only],
      [
        { containers: [{ name: 'c', resources: { limits: { memory: null } } }] },
        `[${quality}, ${kept(first, 'limits')}]`,
      ],
      [
        { containers: [{ name: 'c', resources: null }] },
        `[${quality}, ${kept(first, 'requests')}, ${kept(first, 'limits')}]`,
      ],
      [
        { initContainers: [{ name: 's', resizePolicy: policy }] },
        'spec.initContainers[1]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable',
      ],
      [
        { resources: { requests: { 'hugepages-2Mi': '2Mi' }, limits: { 'hugepages-2Mi': '2Mi' } } },
        'spec: Forbidden: only cpu and memory resources are mutable at pod-level',
      ],
    ]
    for (const [spec, answer, headers] of cases)
      assert.equal(await refusal(api, 'p', spec, headers), answer, JSON.stringify(spec))
  }))

test('a pod whose kubelet tells of no resources of its containers is not resized, nor is a windows pod or a static one', () =>
  withApi(async (api) => {
    const containers = [{ name: 'c', image: 'x' }]
    await create(api, 'old', { containers })
    const running = (resources: object) => ({
      status: {
        containerStatuses: [{ name: 'c', image: 'x', imageID: '', ready: true, restartCount: 0, ...resources }],
      },
    })
    const state = { running: { startedAt: '2026-11-27T00:00:00Z' } }
    await api.request('PATCH', `${PODS}/old/status`, running({ state }), MERGE)
    assert.equal(await refusal(api, 'old', {}), 'spec: Forbidden: Pod running on node without support for resize')
    await api.request('PATCH', `${PODS}/old/status`, running({ state, resources: {} }), MERGE)
    assert.equal(await refusal(api, 'old', {}), 'ok')

    await create(api, 'w', { os: { name: 'windows' }, containers })
    assert.equal(await refusal(api, 'w', {}), '[]: Forbidden: windows pods cannot be resized')
    await create(api, 's', { nodeName: 'a', containers }, { annotations: { 'kubernetes.io/config.mirror': 'x' } })
    assert.equal(await refusal(api, 's', {}), '[]: Forbidden: static pods cannot be resized')
  }))

test("a pod's own limits are those of its containers where each has one, or its own request where that is more", () =>
  withApi(async (api) => {
    const container = (name: string, resources: object) => ({ name, image: 'x', resources })
    const limited = { requests: { cpu: '1' }, limits: { cpu: '2', memory: '1Gi' } }
    const cases: readonly (readonly [own: object, containers: readonly object[], resources: object])[] = [
      [
        { requests: { cpu: '5' } },
        [container('c', limited)],
        { limits: { cpu: '5', memory: '1Gi' }, requests: { cpu: '5', memory: '1Gi' } },
      ],
      [
        { requests: { cpu: '5' } },
        [container('c', limited), container('d', {})],
        { requests: { cpu: '5', memory: '1Gi' } },
      ],
      [
        { limits: { cpu: '7' } },
        [container('c', limited), container('d', limited)],
        { limits: { cpu: '7', memory: '2Gi' }, requests: { cpu: '2', memory: '2Gi' } },
      ],
      [{}, [container('c', limited)], {}],
    ]
    for (const [i, [resources, containers, expected]] of cases.entries()) {
      const { body } = await create(api, `p${i}`, { resources, containers })
      assert.deepEqual(body.spec.resources, expected)
    }
  }))

test('an init container that runs to its end is not begun anew on a resize', () =>
  withApi(async (api) => {
    const init = { name: 'i', image: 'x', resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }
    const containers = [{ name: 'c', image: 'x' }]
    const { body } = await create(api, 'p', { containers, initContainers: [init] })
    assert.equal(
      body.message,
      `Pod "p" is invalid: spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must not be set to 'RestartContainer' for non-sidecar initContainers`,
    )
    assert.equal(
      (await create(api, 'q', { containers, initContainers: [{ ...init, restartPolicy: 'Always' }] })).code,
      201,
    )
  }))

test('a list of containers that a resize sends as null is an empty one, and no containers at all are refused', () =>
  withApi(async (api) => {
    const one = (name: string) => ({ name, image: 'x', resources: QUARTER })
    await create(api, 'p', { containers: [one('c')], initContainers: [one('i')] })
    const json = { 'content-type': 'application/json-patch+json' }
    const answer = async (patch: object, headers = json) =>
      (await api.request('PATCH', `${PODS}/p/resize?dryRun=All`, patch, headers)).code
    for (const list of ['containers', 'initContainers'])
      for (const value of [null, []]) {
        assert.equal(await answer([{ op: 'replace', path: `/spec/${list}`, value }]), 422, `${list} ${value}`)
        assert.equal(await answer({ spec: { [list]: value } }, MERGE), 422, `${list} ${value}, merged`)
      }
    for (const path of ['/spec', '/spec/containers', '/spec/initContainers'])
      assert.equal(await answer([{ op: 'remove', path }]), 422, path)
  }))

test('a resize asks for no more CPU and memory than its node has for pods', () =>
  withApi(async (api) => {
    const status = { allocatable: { cpu: '2', memory: '1Gi' } }
    await api.request('POST', '/api/v1/nodes', { metadata: { name: 'node' }, status })
    const containers = (resources: object) => [{ name: 'c', image: 'x', resources }]
    const other = { name: 'd', image: 'x', resources: { requests: { cpu: '100m' } } }
    const asked = { requests: { cpu: '100m', memory: '1Mi' } }
    for (const [name, nodeName] of [
      ['p', 'node'],
      ['lost', 'nowhere'],
      ['waits', undefined],
    ])
      await create(api, name!, { nodeName, containers: [...containers(asked), other] })
    const to = (name: string, requests: object) => refusal(api, name, { containers: containers({ requests }) })
    assert.equal(await to('p', { cpu: '1900m' }), 'ok')
    const lacks = (what: string) => `pods "p" is forbidden: node didn't have enough allocatable resources: ${what}`
    assert.equal(await to('p', { cpu: '1901m' }), lacks('cpu, requested: 2001, allocatable: 2000'))
    assert.equal(
      await to('p', { cpu: '3', memory: '2Gi' }),
      lacks('cpu, requested: 3100, allocatable: 2000; memory, requested: 2147483648, allocatable: 1073741824'),
    )
    assert.equal(await to('lost', { cpu: '1' }), 'pods "lost" is forbidden: node "nowhere" not found')
    assert.equal(await to('waits', { cpu: '30' }), 'ok')
    const tooMuch = { spec: { containers: containers({ requests: { cpu: '3' } }) } }
    const { body } = await api.request('PATCH', `${PODS}/p/resize`, tooMuch, STRATEGIC)
    assert.deepEqual(body.details, { name: 'p', kind: 'pods', causes: [{ reason: 'NodeCapacity' }] })
  }))
