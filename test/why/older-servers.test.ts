/**
 * `why` on a server as old as v1.28 in what it serves: discovery of each version by itself, policies in v1beta1, none of the newer groups
 * and kinds. What stands before this server says so.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Fields } from '../../src/api/object.ts'
import { StatusError } from '../../src/api/status.ts'
import { responseText } from '../../src/client/response.ts'
import type { Transport } from '../../src/client/transport.ts'
import { CASES } from './cases.ts'
import { type Stage, startStage } from './stage.ts'

const ADMISSION = '/apis/admissionregistration.k8s.io'
const BETA = `${ADMISSION}/v1beta1`
const isPolicy = (name: string) => name.startsWith('validatingadmissionpolic')
/** Groups and resources that came after v1.28. */
const NEWER_GROUPS = /^(resource|storagemigration)\.k8s\.io$/
const NEWER = /^(mutatingadmissionpolic|servicecidrs|ipaddresses|volumeattributesclasses)/
const unknown = () => new StatusError(404, 'NotFound', 'the server could not find the requested resource')

function before130(server: Transport['send']): Transport['send'] {
  return async ({ headers, ...request }) => {
    const isAggregated = headers['accept']?.includes('apidiscovery') === true
    const asked = { ...request, headers: isAggregated ? { ...headers, accept: 'application/json' } : headers }
    const [, , group = '', version, resource = ''] = asked.path.split('/')
    const isListing = asked.path.startsWith('/apis/') && resource === ''
    if (NEWER_GROUPS.test(group) || NEWER.test(resource)) throw unknown()
    if (version === 'v1' && isPolicy(resource)) throw unknown()
    const response = await server({ ...asked, path: asked.path.replace(BETA, `${ADMISSION}/v1`) })
    if (!isListing && asked.path !== '/apis') return response
    const document = JSON.parse(responseText(response))
    const told =
      asked.path === '/apis'
        ? { ...document, groups: olderGroups(document.groups) }
        : { ...document, resources: olderResources(document.resources, group, version === 'v1beta1') }
    return { kind: 'bytes', status: 200, contentType: 'application/json', bytes: [Buffer.from(JSON.stringify(told))] }
  }
}

const olderGroups = (groups: readonly Fields[]) =>
  groups
    .filter(({ name }) => !NEWER_GROUPS.test(name))
    .map((group) =>
      group['name'] === 'admissionregistration.k8s.io'
        ? {
            ...group,
            versions: [...group['versions'], { groupVersion: `${group['name']}/v1beta1`, version: 'v1beta1' }],
          }
        : group,
    )

const olderResources = (resources: readonly Fields[], group: string, isBeta: boolean) =>
  resources.filter(
    ({ name }) => !NEWER.test(name) && (group !== 'admissionregistration.k8s.io' || isPolicy(name) === isBeta),
  )

let stage: Stage
before(async () => {
  stage = await startStage()
})
after(async () => stage?.stop())

for (const number of ['3', '5', '11', '30', 'delete policy', 'policy account']) {
  test(`case ${number}, and the same without dry runs`, async () => {
    const one = CASES[number]
    assert.ok(one)
    const namespace = await stage.namespace(`case-${number.replaceAll(' ', '-')}`)
    const { kind, name, remove = [], undo, later = 0, ...more } = await one.setUp(stage, namespace)
    try {
      for (const dryRun of [true, false]) {
        const asked = { later, dryRun, through: before130 }
        const { said } = await stage.why(kind, name, more.namespace ?? namespace, asked)
        const told = JSON.stringify(said, undefined, 1)
        assert.deepEqual([said['verdict'], said['cause'].kind], [one.verdict, one.cause], told)
        assert.match(said['responsible'], one.responsible, told)
        assert.ok(said['asked'].requests <= 200, `${said['asked'].requests} requests`)
      }
    } finally {
      for (const object of remove) await stage.remove(object)
      await undo?.()
    }
  })
}

test('without a name', async () => {
  assert.equal((await stage.survey()).exitCode, (await stage.survey({ through: before130 })).exitCode)
})
