/**
 * `helm install --wait` and `helm uninstall --wait` of software that nobody here wrote, on simulated nodes: afterwards the
 * cluster is as it was. The share of test/software that CI runs; the others are in install.long.ts.
 */
import { test } from 'node:test'
import { startE2eCluster } from '../e2e/cluster.ts'
import { withoutKubectl } from '../kubectl.ts'
import { software } from './catalogue.ts'
import { everything, helmInstall, helmUninstall, onlyLeft } from './installation.ts'
import { withoutGo } from './modules.ts'
import { withoutHelm } from './programs.ts'

const skip = withoutKubectl || withoutGo || withoutHelm
for (const one of [software.certManager, software.argoCd, software.prometheusOperator])
  test(`helm installs ${one.name} ${one.module.version}, waits for it, and takes it away whole`, { skip }, async () => {
    await using cluster = await startE2eCluster('--nodes', '2')
    const found = await everything(cluster)
    await helmInstall(cluster, one)
    await helmUninstall(cluster, one)
    await onlyLeft(cluster, found)
  })
