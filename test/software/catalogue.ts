/** What the tests of this folder install: where it lies in its module, and what it needs beforehand. */
import { join } from 'node:path'
import { kubectlPath } from '../kubectl.ts'
import { folderOf, modules, type PinnedModule } from './modules.ts'
import { command } from './programs.ts'

export interface Software {
  readonly name: string
  readonly module: PinnedModule
  readonly namespace: string
  /** Its manifests name no namespace: they are applied into this one. */
  readonly placed?: true
  /** Files and folders of the module, or its kustomizations; each entry can be applied when those before it are. */
  readonly manifests?: readonly (string | { readonly kustomize: string })[]
  /** A chart's folder in the module. */
  readonly chart?: string
  readonly values?: readonly string[]
  /** What its administrator makes, or its own containers would make if they ran. */
  readonly before?: readonly object[]
}

const argoCd = {
  module: modules.argoCd,
  namespace: 'argocd',
  placed: true as const,
  // An init container would make the password of Argo CD's Redis; simulated, it ends and makes nothing.
  before: [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'argocd-redis' }, stringData: { auth: 'secret' } }],
}

export const software = {
  argoCd: { name: 'Argo CD', ...argoCd, manifests: ['manifests/install.yaml'] },
  argoCdHa: { name: 'Argo CD, highly available', ...argoCd, manifests: ['manifests/ha/install.yaml'] },
  prometheusOperator: {
    name: 'prometheus-operator',
    module: modules.prometheusOperator,
    namespace: 'default',
    manifests: ['bundle.yaml'],
  },
  kubePrometheus: {
    name: 'kube-prometheus',
    module: modules.kubePrometheus,
    namespace: 'monitoring',
    manifests: ['manifests/setup', 'manifests'],
  },
  certManager: {
    name: 'cert-manager',
    module: modules.certManager,
    namespace: 'cert-manager',
    chart: 'deploy/charts/cert-manager',
    values: ['crds.enabled=true', 'crds.keep=false'],
  },
  jobSet: {
    name: 'JobSet',
    module: modules.jobSet,
    namespace: 'jobset-system',
    manifests: [{ kustomize: 'config/default' }],
  },
  jobSetChart: { name: 'JobSet', module: modules.jobSet, namespace: 'jobset-system', chart: 'charts/jobset' },
  kueue: {
    name: 'Kueue',
    module: modules.kueue,
    namespace: 'kueue-system',
    manifests: [{ kustomize: 'config/default' }],
  },
  kueueChart: { name: 'Kueue', module: modules.kueue, namespace: 'kueue-system', chart: 'charts/kueue' },
  cloudNativePg: {
    name: 'CloudNativePG',
    module: modules.cloudNativePg,
    namespace: 'cnpg-system',
    manifests: ['releases/cnpg-1.30.0.yaml'],
  },
} satisfies Record<string, Software>

/** Each entry of its manifests as kubectl's arguments and input: a path in its module, or what a kustomization gives. */
export async function manifestsOf({
  module,
  namespace,
  placed,
  manifests = [],
}: Software): Promise<readonly Manifest[]> {
  const folder = await folderOf(module)
  const place = placed === true ? ['-n', namespace] : []
  return Promise.all(
    manifests.map(async (entry) =>
      typeof entry === 'string'
        ? { args: [...place, '-f', join(folder, entry)] }
        : {
            args: [...place, '-f', '-'],
            input: await command(kubectlPath, ['kustomize', join(folder, entry.kustomize)]),
          },
    ),
  )
}

export interface Manifest {
  readonly args: readonly string[]
  readonly input?: string
}
