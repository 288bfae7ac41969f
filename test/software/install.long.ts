/** Software that nobody here wrote, installed on simulated nodes by kubectl and by Helm, available, and gone again whole. */
import { test } from 'node:test'
import { startE2eCluster } from '../e2e/cluster.ts'
import { withoutKubectl } from '../kubectl.ts'
import { type Software, software } from './catalogue.ts'
import { apply, everything, helmInstall, helmUninstall, onlyLeft, remove } from './installation.ts'
import { withoutGo } from './modules.ts'
import { withoutHelm } from './programs.ts'

const skip = withoutKubectl || withoutGo || withoutHelm
const applied: readonly Software[] = [
  software.argoCd,
  software.argoCdHa,
  software.prometheusOperator,
  software.kubePrometheus,
  software.jobSet,
  software.kueue,
  software.cloudNativePg,
]
for (const one of applied)
  test(`${one.name} ${one.module.version} applies, becomes available, and goes whole`, { skip }, async () => {
    await using cluster = await startE2eCluster('--nodes', '3')
    const found = await everything(cluster)
    await apply(cluster, one)
    await remove(cluster, one)
    await onlyLeft(cluster, found)
  })

// kube-prometheus is not among them: with its dashboards it is larger than the one Secret in which Helm keeps a release.
const installed: readonly Software[] = [software.jobSetChart, software.kueueChart, software.cloudNativePg]
for (const one of installed)
  test(`helm installs ${one.name} ${one.module.version}, waits for it, and takes it away whole`, { skip }, async () => {
    await using cluster = await startE2eCluster('--nodes', '3')
    const found = await everything(cluster)
    await helmInstall(cluster, one)
    await helmUninstall(cluster, one)
    await onlyLeft(cluster, found)
  })
