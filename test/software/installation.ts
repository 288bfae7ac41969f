/** Installing software as its users do, with kubectl or Helm, and what is left of it afterwards. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseAllDocuments } from 'yaml'
import type { E2eCluster } from '../e2e/cluster.ts'
import { type Any, kubectlPath } from '../kubectl.ts'
import { type Manifest, manifestsOf, type Software } from './catalogue.ts'
import { folderOf } from './modules.ts'
import { command, helmPath } from './programs.ts'

/** Longer than anything takes that gets there at all. */
const TIMEOUT = '240s'

/** kubectl, with the patience that installations need. */
export const kubectlIn = (cluster: E2eCluster) => (args: readonly string[], input?: string) =>
  command(kubectlPath, args, { env: { KUBECONFIG: cluster.kubeconfig }, ...(input === undefined ? {} : { input }) })

const helmIn = (cluster: E2eCluster, home: string) => (args: readonly string[]) =>
  command(helmPath, args, { env: { KUBECONFIG: cluster.kubeconfig, HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home } })

/** Applies its manifests and waits until all it runs is there. */
export async function apply(cluster: E2eCluster, software: Software): Promise<void> {
  const kubectl = kubectlIn(cluster)
  await prepare(cluster, software)
  for (const { args, input } of await manifestsOf(software)) {
    await kubectl(['apply', '--server-side', ...args], input)
    await kubectl(['wait', '--for=condition=Established', 'customresourcedefinitions', '--all', `--timeout=${TIMEOUT}`])
  }
  await allRuns(cluster)
}

/** Deletes what `apply` made, in the other order. */
export async function remove(cluster: E2eCluster, software: Software): Promise<void> {
  const kubectl = kubectlIn(cluster)
  const manifests = await manifestsOf(software)
  for (const { args, input } of manifests.toReversed()) await kubectl(['delete', '--ignore-not-found', ...args], input)
  await clearUp(cluster, software)
}

/** `helm install --wait` of its chart, or of its manifests in a chart around them. */
export async function helmInstall(cluster: E2eCluster, software: Software): Promise<void> {
  await prepare(cluster, software)
  const folder = mkdtempSync(join(tmpdir(), 'skiff-chart-'))
  try {
    const chart =
      software.chart === undefined
        ? wrappingChart(folder, await documentsOf(await manifestsOf(software), cluster), software)
        : join(await folderOf(software.module), software.chart)
    const values = (software.values ?? []).flatMap((value) => ['--set', value])
    const place = ['-n', software.namespace, '--create-namespace']
    await helmIn(cluster, folder)(['install', 'it', chart, ...place, ...values, '--wait', '--timeout', TIMEOUT])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  await allRuns(cluster)
}

/** `helm uninstall --wait`, and what Helm leaves by its own rules: definitions of a chart's crds folder, the namespace. */
export async function helmUninstall(cluster: E2eCluster, software: Software): Promise<void> {
  const kubectl = kubectlIn(cluster)
  await helmIn(cluster, tmpdir())(['uninstall', 'it', '-n', software.namespace, '--wait', '--timeout', TIMEOUT])
  await kubectl(['delete', 'customresourcedefinitions', '--all'])
  await clearUp(cluster, software)
}

async function prepare(cluster: E2eCluster, { namespace, before = [] }: Software): Promise<void> {
  if (before.length === 0) return
  const inside = await cluster.namespace(namespace)
  await inside.send('create', ...before)
}

async function clearUp(cluster: E2eCluster, { namespace }: Software): Promise<void> {
  if (namespace === 'default') return
  await kubectlIn(cluster)(['delete', 'namespace', namespace, '--ignore-not-found'])
}

/** Waits until every Deployment, StatefulSet and DaemonSet of the cluster has all its pods, available. */
async function allRuns(cluster: E2eCluster): Promise<void> {
  const kubectl = kubectlIn(cluster)
  const sets = await cluster.kubectl.json('get', 'deployments,statefulsets,daemonsets', '-A')
  if (sets.items.length === 0) throw new Error('nothing was installed that runs')
  for (const { kind, metadata } of sets.items) {
    const name = `${kind.toLowerCase()}/${metadata.name}`
    await kubectl(['rollout', 'status', name, '-n', metadata.namespace, `--timeout=${TIMEOUT}`])
  }
}

async function documentsOf(manifests: readonly Manifest[], cluster: E2eCluster): Promise<readonly Any[]> {
  const kubectl = kubectlIn(cluster)
  const texts = await Promise.all(
    // kubectl reads folders, and prints what it read without asking the cluster whether it knows the kinds.
    manifests.map(({ args, input }) =>
      input === undefined
        ? kubectl(['annotate', '--local', ...args, 'made.by-', '-o', 'yaml'])
        : Promise.resolve(input),
    ),
  )
  return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS())).filter(Boolean)
}

/** A chart whose templates are these objects, and whose crds folder their definitions. */
function wrappingChart(folder: string, objects: readonly Any[], { module, namespace }: Software): string {
  const lines = (chosen: readonly Any[]) => chosen.map((object) => JSON.stringify(object)).join('\n---\n')
  const isDefinition = ({ kind }: Any) => kind === 'CustomResourceDefinition'
  const isOwnNamespace = ({ kind, metadata }: Any) => kind === 'Namespace' && metadata.name === namespace
  const chart = { apiVersion: 'v2', name: 'it', version: module.version.slice(1) }
  for (const name of ['crds', 'templates', 'files']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'Chart.yaml'), JSON.stringify(chart))
  writeFileSync(join(folder, 'crds', 'all.yaml'), lines(objects.filter(isDefinition)))
  writeFileSync(
    join(folder, 'files', 'all.yaml'),
    lines(objects.filter((object) => !isDefinition(object) && !isOwnNamespace(object))),
  )
  // What the objects have in braces is theirs, not Helm's.
  writeFileSync(join(folder, 'templates', 'all.yaml'), '{{ .Files.Get "files/all.yaml" }}')
  return folder
}

/** Kinds that come and go by themselves. */
const PASSING = new Set(['events', 'events.events.k8s.io', 'leases.coordination.k8s.io', 'componentstatuses'])

/** Every object of the cluster as `kind namespace/name`, in order. */
export async function everything(cluster: E2eCluster): Promise<readonly string[]> {
  const kubectl = kubectlIn(cluster)
  const resources = (await kubectl(['api-resources', '--verbs=list', '-o', 'name'])).trim().split('\n')
  const asked = resources.filter((name) => !PASSING.has(name)).join(',')
  const { items } = JSON.parse(await kubectl(['get', asked, '-A', '-o', 'json']))
  return items.map(({ kind, metadata }: Any) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`).sort()
}

/** Waits until the cluster holds these objects and no others, which is when the garbage collector has done its part. */
export async function onlyLeft(cluster: E2eCluster, before: readonly string[]): Promise<void> {
  const known = new Set(before)
  const deadline = performance.now() + 120_000
  for (;;) {
    const now = await everything(cluster)
    const more = now.filter((object) => !known.has(object))
    const gone = before.filter((object) => !now.includes(object))
    if (more.length + gone.length === 0) return
    if (performance.now() > deadline) throw new Error(`left: ${more.join(', ')}; missing: ${gone.join(', ')}`)
    await pause(200)
  }
}
