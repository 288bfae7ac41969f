/**
 * Manifests that nobody here wrote: what large public operators ship inside their Go modules installs, and their samples
 * apply. Modules come from the module proxy; without Go or kubectl the tests are skipped with the reason.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { type StartedCluster, startSkiff } from '../conformance/server.ts'
import { kubectlPath, withoutKubectl } from './kubectl.ts'
import { folderOf, modules, type PinnedModule, withoutGo } from './software/modules.ts'

const run = promisify(execFile)

interface Shipped {
  readonly module: PinnedModule
  /** Files and folders of the module, in order; each applied server-side, recursively. */
  readonly install: readonly string[]
  readonly samples: readonly string[]
  /** Samples that are wrong themselves; without them those of a folder are applied one level deep. */
  readonly unfit?: readonly string[]
  /** CustomResourceDefinitions that must be served after the installation. */
  readonly definitions: number
}

const shipped: readonly Shipped[] = [
  {
    module: modules.prometheusOperator,
    install: ['bundle.yaml'],
    samples: ['example/rbac', 'example/thanos', 'example/storage', 'example/shards', 'example/networkpolicies'],
    definitions: 10,
  },
  {
    module: modules.certManager,
    install: ['deploy/crds'],
    samples: ['test/fixtures/cert-manager-resources.yaml'],
    definitions: 6,
  },
  {
    module: modules.cloudNativePg,
    install: ['config/crd/bases'],
    samples: ['docs/src/samples'],
    // These two do not fit the definitions beside them, and Kubernetes refuses them as well.
    unfit: ['cluster-example-bis.yaml', 'cluster-restore-with-tablespaces.yaml'],
    definitions: 11,
  },
  {
    module: modules.gatewayApi,
    install: ['config/crd/standard'],
    samples: ['examples/standard'],
    definitions: 6,
  },
]

const skip = withoutKubectl || withoutGo

let cluster: StartedCluster
const kubectl = (...args: readonly string[]) =>
  run(kubectlPath, ['--kubeconfig', cluster.kubeconfig, ...args], { maxBuffer: 64 * 1024 * 1024 })

before(async () => {
  if (skip) return
  cluster = await startSkiff()
  for (const namespace of ['monitoring', 'gateway-conformance-infra', 'ingress-nginx'])
    await kubectl('create', 'namespace', namespace)
})
after(() => cluster?.stop())

for (const { module, install, samples, unfit, definitions } of shipped)
  test(`${module.path} ${module.version} installs, and its samples apply`, { skip }, async () => {
    const folder = await folderOf(module)
    const before = await established()
    for (const path of install) await kubectl('apply', '--server-side', '-R', '-f', join(folder, path))
    await kubectl('wait', '--for=condition=Established', 'customresourcedefinitions', '--all')
    assert.equal((await established()) - before, definitions)
    for (const path of samples) {
      const place = join(folder, path)
      const files = unfit === undefined ? ['-R', '-f', place] : await fitting(place, unfit)
      const { stdout } = await kubectl('apply', '--server-side', '--force-conflicts', ...files)
      assert.match(stdout, /serverside-applied/)
    }
  })

async function fitting(folder: string, unfit: readonly string[]): Promise<readonly string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.yaml') && !unfit.includes(name))
  return names.flatMap((name) => ['-f', join(folder, name)])
}

async function established(): Promise<number> {
  const { stdout } = await kubectl('get', 'customresourcedefinitions', '-o', 'json')
  const definitions = JSON.parse(stdout).items as { status?: { conditions?: { type: string; status: string }[] } }[]
  return definitions.filter(({ status }) =>
    status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True'),
  ).length
}
