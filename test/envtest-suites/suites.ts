/** Suites of others that start their control plane by controller-runtime's envtest: modules at pinned versions, and packages of each. */
import { type PinnedModule, modules as software } from '../software/modules.ts'

export interface Suite {
  readonly module: PinnedModule
  /** Modules of the same repository that its go.mod looks for in folders of its own. */
  readonly inside?: Readonly<Record<string, PinnedModule>>
  /** Files of modules, required or others, which its Makefile copies to where its tests look: by the folder here, the module and its folder. */
  readonly copied?: Readonly<Record<string, readonly [module: string | PinnedModule, folder: string]>>
  /** Folders of modules that it requires, which its tests find by the environment: by the variable's name, the module and its folder. */
  readonly environment?: Readonly<Record<string, readonly [module: string, folder: string]>>
  /** What `go mod edit` is asked to change before, so that what is compiled is shared with others. */
  readonly edits?: readonly string[]
  /** Files that its Makefile makes with kustomize: by the file the folder that is built. */
  readonly kustomized?: Readonly<Record<string, string>>
  /** Of Go's build, as its Makefile gives them. */
  readonly tags?: readonly string[]
  /** Flags of its own tests, as its Makefile gives them. */
  readonly flags?: readonly string[]
  readonly packages: readonly string[]
}

const pinned = (path: string, version: string, sum: string): PinnedModule => ({ path, version, sum })

/** Flux's modules that others of one repository look for beside them. */
const fluxApi = (name: string, version: string, sum: string) => ({
  [`../apis/${name}`]: pinned(`github.com/fluxcd/pkg/apis/${name}`, version, sum),
})

/** Packages of Karpenter, all of which start a control plane. */
const KARPENTER = [
  ...['apis/v1', 'apis/v1alpha1', 'utils/nodepool', 'utils/pdb'],
  ...[
    ...['disruption', 'node/health', 'node/hydration', 'node/termination', 'nodeoverlay', 'provisioning', 'state'],
    ...['consistency', 'disruption', 'expiration', 'garbagecollection', 'hydration', 'lifecycle', 'podevents'].map(
      (name) => `nodeclaim/${name}`,
    ),
    ...['counter', 'hash', 'readiness', 'registrationhealth', 'validation'].map((name) => `nodepool/${name}`),
    ...['metrics/node', 'metrics/nodepool', 'metrics/pod'],
  ].map((name) => `controllers/${name}`),
]

/** Of kueue every suite with one plane. */
const KUEUE = [
  ...[
    'admissionchecks/provisioning',
    'concurrentadmission',
    'core',
    'dra',
    'failurerecovery',
    'jobframework/setup',
  ].map((name) => `controller/${name}`),
  ...[
    ...['appwrapper', 'jaxjob', 'job', 'jobset', 'mpijob', 'paddlejob', 'pod', 'pytorchjob', 'raycluster', 'rayjob'],
    ...['sparkapplication', 'statefulset', 'tfjob', 'trainjob', 'xgboostjob'],
  ].map((name) => `controller/jobs/${name}`),
  ...['conversion', 'importer', 'kueuectl', 'scheduler', 'tas', 'webhook/core', 'webhook/jobs'],
  ...['delayedadmission', 'excluderesources', 'fairsharing', 'inadmissible', 'podsready', 'quotacheckstrategy'].map(
    (name) => `scheduler/${name}`,
  ),
  'scheduler/resourcetransformations',
]

/** Of controller-runtime every package whose tests use envtest. */
const ALL_OF_CONTROLLER_RUNTIME = [
  ...['builder', 'cache', 'client', 'client/apiutil', 'cluster', 'controller', 'controller/controllerutil'],
  ...['envtest', 'handler', 'internal/controller', 'internal/recorder', 'manager', 'manager/internal/integration'],
  ...['metrics/filters', 'reconcile', 'source', 'webhook'],
].map((name) => `pkg/${name}`)

export const suites: Readonly<Record<string, Suite>> = {
  'controller-runtime 0.25.2': {
    module: pinned('sigs.k8s.io/controller-runtime', 'v0.25.2', 'h1:bEkK3PVOIVK9X8QWLGVhJgmFc++47vfT6wakSzAOLsQ='),
    packages: ALL_OF_CONTROLLER_RUNTIME,
  },
  'controller-runtime 0.20.4': {
    module: pinned('sigs.k8s.io/controller-runtime', 'v0.20.4', 'h1:X3c+Odnxz+iPTRobG4tp092+CvBU9UK0t/bRf+n0DGU='),
    packages: ALL_OF_CONTROLLER_RUNTIME,
  },
  'controller-runtime 0.17.6': {
    module: pinned('sigs.k8s.io/controller-runtime', 'v0.17.6', 'h1:12IXsozEsIXWAMRpgRlYS1jjAHQXHtWEOMdULh3DbEw='),
    packages: ALL_OF_CONTROLLER_RUNTIME.filter((name) => name !== 'pkg/envtest'),
  },
  'controller-runtime 0.14.7': {
    module: pinned('sigs.k8s.io/controller-runtime', 'v0.14.7', 'h1:Vrnm2vk9ZFlRkXATHz0W0wXcqNl7kPat8q2JyxVy0Q8='),
    packages: ALL_OF_CONTROLLER_RUNTIME.filter(
      (name) => !['manager/internal/integration', 'metrics/filters', 'reconcile'].includes(name.slice('pkg/'.length)),
    ),
  },
  'KubeRay 1.5.0': {
    module: pinned(
      'github.com/ray-project/kuberay/ray-operator',
      'v1.5.0',
      'h1:KCjCQ7PSsvs9Ke+90CZbbs498nuaIJ/JkXk4vd54EVg=',
    ),
    packages: ['controllers/ray', 'pkg/webhooks/v1'],
  },
  'Katib 0.19.0': {
    module: pinned('github.com/kubeflow/katib', 'v0.19.0', 'h1:uexj303nRkGtTFtTkY4McCt6J0TCtnerX3i3E7TRA5M='),
    packages: [
      ...['experiment', 'suggestion', 'suggestion/composer', 'trial'].map((name) => `pkg/controller.v1beta1/${name}`),
      'pkg/webhook/v1beta1/pod',
    ],
  },
  'CloudNativePG 1.30.0': {
    module: pinned(
      'github.com/cloudnative-pg/cloudnative-pg',
      'v1.30.0',
      'h1:fnhVq44xXx97MNiuvJsPrX1vSjYbgdyBK5MSGfdHdp0=',
    ),
    packages: ['internal/cmd/plugin'],
  },
  'JobSet 0.12.0': {
    module: pinned('sigs.k8s.io/jobset', 'v0.12.0', 'h1:YYPuV0px8Ongq/RXmJg6V0w2UC67aiR+rCMD06vhQQQ='),
    packages: ['test/integration/controller', 'test/integration/webhook'],
  },
  'LWS 0.8.0': {
    module: pinned('sigs.k8s.io/lws', 'v0.8.0', 'h1:DdhJ8QabwTfWgbgaHH2gdf8twliioHaoSfmDXRYEVU0='),
    packages: ['test/integration/controllers', 'test/integration/webhooks'],
  },
  'Kubeflow training-operator 1.8.1': {
    module: pinned(
      'github.com/kubeflow/training-operator',
      'v1.8.1',
      'h1:mVvoBSCInbMBX0gGSn4+Ihj3ycwoLO1iEAw+0qPhQfc=',
    ),
    packages: ['mpi', 'mxnet', 'paddlepaddle', 'pytorch', 'tensorflow', 'xgboost'].map(
      (name) => `pkg/controller.v1/${name}`,
    ),
  },
  'Kubeflow trainer 2.0.0': {
    module: pinned('github.com/kubeflow/trainer/v2', 'v2.0.0', 'h1:mnQSR9iPKItxyUR8mq66XsmxqKNVHwr9YYOB7BTU9dU='),
    copied: {
      'manifests/external-crds/jobset-operator': ['sigs.k8s.io/jobset', 'config/components/crd/bases'],
      'manifests/external-crds/scheduler-plugins': ['sigs.k8s.io/scheduler-plugins', 'manifests/coscheduling'],
    },
    packages: ['test/integration/controller', 'test/integration/webhooks'],
  },
  'Cluster API 1.14.2': {
    module: pinned('sigs.k8s.io/cluster-api', 'v1.14.2', 'h1:o3GFNaeNFAOEEMpDPfhCK+2CjmV6gtQ8yLEcUwCg7bA='),
    inside: {
      api: pinned('sigs.k8s.io/cluster-api/api', 'v1.14.2', 'h1:B0XWZGFrb4+R1pH2nApdR9d4tcQGIhpEquRxxf36fHg='),
    },
    packages: [
      ...['controllers/crdmigrator', 'core/reconcilers/clusterresourceset', 'core/webhooks/admission/test'],
      ...['core/reconcilers/topology/cluster/structuredmerge', 'internal/util/ssa/test', 'util/patch/test'],
      ...['bootstrap/kubeadm/reconcilers/kubeadmconfig', 'controllers/clustercache', 'controlplane/kubeadm/pkg'],
      ...[
        'cluster',
        'clusterclass',
        'extensionconfig',
        'machine',
        'machinehealthcheck',
        'machinepool',
        'machineset',
      ].map((name) => `core/reconcilers/${name}`),
      ...['internal/topology/upgrade', 'util/controller', 'util/deprecated/v1beta1/patch'],
    ],
  },
  'kro 0.9.4': {
    module: pinned('github.com/kubernetes-sigs/kro', 'v0.9.4', 'h1:gynhldCLYW5x+M0c2Bf1ihoQTpNE68SKiXl1f6aX1kk='),
    packages: ['test/integration/suites/core'],
  },
  'Flux ssa 0.60.0': {
    module: pinned('github.com/fluxcd/pkg/ssa', 'v0.60.0', 'h1:ikA78TWSLDmIc8I/goGAU/buYF6jto/gswE5hnOfWGk='),
    packages: ['.', 'jsondiff'],
  },
  'Gatekeeper 3.23.1': {
    module: pinned(
      'github.com/open-policy-agent/gatekeeper/v3',
      'v3.23.1',
      'h1:njHTm0SJ6ZEhhEgmQTpJKTGQbc99fSs4hGiEp1OIKck=',
    ),
    packages: [
      'pkg/cachemanager',
      'pkg/readiness',
      'pkg/watch',
      ...['config', 'externaldata', 'mutators/core', 'syncset', 'webhookconfig'].map(
        (name) => `pkg/controller/${name}`,
      ),
    ],
  },
  'constraint framework of Open Policy Agent, June 2026': {
    module: pinned(
      'github.com/open-policy-agent/frameworks/constraint',
      'v0.0.0-20260616163050-e1eaa1bf6d62',
      'h1:2YhLEut4c/JkPCvgtH3pp0nuS5xNJoQ0kSmTUiyUZl8=',
    ),
    packages: ['pkg/apis/templates/v1', 'pkg/apis/templates/v1beta1'],
  },
  'Flux runtime 0.113.0': {
    module: pinned('github.com/fluxcd/pkg/runtime', 'v0.113.0', 'h1:DzO7IEoNU+srL9aHjTGdsMawR33A9bfk7rCHRZZKiac='),
    inside: {
      ...fluxApi('acl', 'v0.11.0', 'h1:BxThatpA6qd5Qzwim6/hRu0gdAX0JxNm3PledDuJqXo='),
      ...fluxApi('event', 'v0.29.0', 'h1:3yqa9SiHKjfPi7Tvm6PmdNrWNkQF6VSqVes3MkzTPi4='),
      ...fluxApi('kustomize', 'v1.21.0', 'h1:dNR/mcuEdziBQKH2bG/B1X6MmASFv9ijXU7PdY8s2JU='),
      ...fluxApi('meta', 'v1.32.0', 'h1:jWuNuIziUM8NOrhZB7vovdFQ4wBYRNJoAn+XUoYlj1I='),
    },
    packages: ['acl', 'cel', 'client', 'controller', 'events', 'patch', 'secrets'],
  },
  'trust-manager 0.25.0': {
    module: pinned(
      'github.com/cert-manager/trust-manager',
      'v0.25.0',
      'h1:nGtkHH9wEacI5uACdsq8wqCKWsCw1PMrwHPJcrUFUXA=',
    ),
    packages: ['test/integration/bundle', 'test/integration/clusterbundle'],
  },
  'approver-policy 0.28.0': {
    module: pinned(
      'github.com/cert-manager/approver-policy',
      'v0.28.0',
      'h1:tZNWjYkGd5+Cs9qflP4xkzml5pWTserC4AEWI9omPZA=',
    ),
    environment: { CERT_MANAGER_CRDS: ['github.com/cert-manager/cert-manager', 'deploy/crds'] },
    packages: [
      'pkg/internal/approver/manager',
      'pkg/internal/approver/manager/predicate',
      'pkg/internal/controllers/test',
    ],
  },
  // Wants Go 1.26.9.
  'Karpenter 1.15.0': {
    module: pinned('sigs.k8s.io/karpenter', 'v1.15.0', 'h1:5SEptlAvsOZbNg4qg8OSdF1qi6BEZHZLA020nXY7jGw='),
    edits: [
      ...[
        ...['api', 'apiextensions-apiserver', 'apimachinery', 'apiserver', 'client-go', 'cloud-provider'],
        ...['component-base', 'component-helpers', 'csi-translation-lib', 'dynamic-resource-allocation'],
      ].map((name) => `-require=k8s.io/${name}@v0.37.0`),
      '-require=sigs.k8s.io/controller-runtime@v0.25.0',
    ],
    packages: KARPENTER.map((name) => `pkg/${name}`),
  },
  'KEDA 2.21.0': {
    module: pinned('github.com/kedacore/keda/v2', 'v2.21.0', 'h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps='),
    packages: ['apis/eventing/v1alpha1', 'apis/keda/v1alpha1'],
  },
  'frr-k8s 0.0.21': {
    module: pinned('github.com/metallb/frr-k8s', 'v0.0.21', 'h1:JLlCeXVlW5BLVdPy2u5sS9UCVlnK9x2vzWbIkxb8Atk='),
    packages: ['frr-tools/status/controller', 'internal/controller'],
  },
  'external-secrets 0.16.2': {
    module: pinned(
      'github.com/external-secrets/external-secrets',
      'v0.16.2',
      'h1:iNY+gIgSyL5higXTfnz+hdPCaiB/43UiHLqE7HBpj68=',
    ),
    packages: [
      ...['clusterexternalsecret', 'clusterpushsecret', 'crds', 'externalsecret', 'pushsecret', 'secretstore'],
      'webhookconfig',
    ].map((name) => `pkg/controllers/${name}`),
  },
  'Cluster API operator 0.28.0': {
    module: pinned('sigs.k8s.io/cluster-api-operator', 'v0.28.0', 'h1:pmqIRWQIta/Lcj7t6AmSVXm3jPoFhg4EFGfnNTJnRAw='),
    // A module of its own in its repository, with cert-manager's definitions.
    copied: { 'test/testdata': [software.certManager, 'deploy/crds'] },
    packages: ['internal/controller', 'internal/controller/healthcheck'],
  },
  'Velero 1.18.3': {
    module: pinned('github.com/vmware-tanzu/velero', 'v1.18.3', 'h1:9uwN5yxTWQl9PsF5ljX4xiG+7VIq3I9mxOQ0DyyZ31A='),
    packages: ['pkg/controller'],
  },
  'controller-runtime 0.24.1': {
    module: pinned('sigs.k8s.io/controller-runtime', 'v0.24.1', 'h1:miPEwrmirImAvgME1L9qebGHrOnGJoVmVdtOU9fRfo4='),
    packages: ALL_OF_CONTROLLER_RUNTIME,
  },
  'Kyverno 1.19.1': {
    module: pinned('github.com/kyverno/kyverno', 'v1.19.1', 'h1:/MkgFii3/VlQfKR1JpC9tVwNNVNQTt2S4U6qCsafsTU='),
    tags: ['integration'],
    packages: ['dpol', 'gpol', 'ivpol', 'mpol', 'multi', 'reports', 'vpol'].map((name) => `test/integration/${name}`),
  },
  'kueue 0.19.0': {
    module: software.kueue,
    kustomized: { 'config/components/crd/_output/crds-with-webhooks.yaml': 'config/components/crd' },
    copied: {
      'dep-crds/appwrapper-crds': ['github.com/project-codeflare/appwrapper', 'config/crd/bases'],
      'dep-crds/cluster-autoscaler': ['k8s.io/autoscaler/cluster-autoscaler/apis', 'config/crd'],
      'dep-crds/clusterprofile': ['sigs.k8s.io/cluster-inventory-api', 'config/crd/bases'],
      'dep-crds/jobset-operator': ['sigs.k8s.io/jobset', 'config/components/crd/bases'],
      'dep-crds/kf-trainer-crds': ['github.com/kubeflow/trainer/v2', 'manifests/base/crds'],
      'dep-crds/mpi-operator': ['github.com/kubeflow/mpi-operator', 'manifests/base'],
      'dep-crds/ray-operator-crds': ['github.com/ray-project/kuberay/ray-operator', 'config/crd/bases'],
      'dep-crds/spark-operator-crds': ['github.com/kubeflow/spark-operator/v2', 'config/crd/bases'],
      // Without MPIJobs, which are those of mpi-operator.
      ...Object.fromEntries(
        ['jaxjobs', 'paddlejobs', 'pytorchjobs', 'tfjobs', 'xgboostjobs'].map((name) => [
          `dep-crds/training-operator-crds/kubeflow.org_${name}.yaml`,
          ['github.com/kubeflow/training-operator', `manifests/base/crds/kubeflow.org_${name}.yaml`] as const,
        ]),
      ),
    },
    packages: KUEUE.map((name) => `test/integration/singlecluster/${name}`),
  },
  'Cluster API provider AWS 2.13.0': {
    module: pinned(
      'sigs.k8s.io/cluster-api-provider-aws/v2',
      'v2.13.0',
      'h1:yQz7GBrIkPLuEJ5MXNuZ/6eUssTJK8reUnZ6t5QIPnU=',
    ),
    packages: [
      ...['bootstrap/eks/controllers', 'controllers', 'controlplane/eks/controllers', 'controlplane/eks/webhooks'],
      ...['controlplane/rosa/controllers', 'exp/controlleridentitycreator', 'exp/controllers', 'exp/instancestate'],
      ...['pkg/cloud/services/iamauth', 'webhooks'],
    ],
  },
  'Virtual Kubelet 1.14.1': {
    module: pinned(
      'github.com/virtual-kubelet/virtual-kubelet',
      'v1.14.1',
      'h1:irXb8zqmt3u1/M9jLmVtZQADrHy56N6SiFWah1ANz7g=',
    ),
    flags: ['-envtest=true'],
    packages: ['node'],
  },
  'Envoy Gateway 1.9.1': {
    module: pinned('github.com/envoyproxy/gateway', 'v1.9.1', 'h1:vAVp6/AlBXJ1aOhp1mxL7fNEzVEfjADUguUhm2wzxQY='),
    tags: ['integration'],
    packages: ['internal/provider/kubernetes'],
  },
  'cluster-inventory-api 0.1.3': {
    module: pinned('sigs.k8s.io/cluster-inventory-api', 'v0.1.3', 'h1:E7GY85hOIIPdALNdTO9Cbs2PXqjotWq6afe/NTwgCJo='),
    packages: ['test/integration'],
  },
  'Flux auth 0.54.3': {
    module: pinned('github.com/fluxcd/pkg/auth', 'v0.54.3', 'h1:p0KyQHk9kdBwOnkChkuK8gGaaze0KHO0xFGk/iKd4Ek='),
    edits: ['apis/meta', 'cache', 'ssh'].map((name) => `-dropreplace=github.com/fluxcd/pkg/${name}`),
    packages: ['.'],
  },
  'mpi-operator 0.8.2': {
    module: pinned('github.com/kubeflow/mpi-operator', 'v0.8.2', 'h1:7PVtV31iX3LSVW0BqRQ64w/NYNfAgP86Bmua2OEi5lg='),
    copied: { 'dep-crds/scheduler-plugins': ['sigs.k8s.io/scheduler-plugins', 'manifests/coscheduling'] },
    packages: ['test/integration'],
  },
  'AppWrapper 1.2.2': {
    module: pinned(
      'github.com/project-codeflare/appwrapper',
      'v1.2.2',
      'h1:W5Dm0J8cOUPnb+Jo9rkHcvAzY+GkECy/vdGmozvGKHI=',
    ),
    packages: ['internal/controller/appwrapper', 'internal/webhook'],
  },
  'Spark operator 2.5.1': {
    module: pinned(
      'github.com/kubeflow/spark-operator/v2',
      'v2.5.1',
      'h1:7E1iz79b5p8fEcn2zr/yJ/T3kuZtJJqj+DPvvGV3WjA=',
    ),
    packages: [
      ...['scheduledsparkapplication', 'sparkapplication', 'sparkconnect'].map((name) => `internal/controller/${name}`),
      'internal/webhook',
      'pkg/certificate',
    ],
  },
  'multicluster-runtime 0.22.4-beta.1': {
    module: pinned(
      'sigs.k8s.io/multicluster-runtime',
      'v0.22.4-beta.1',
      'h1:0XWbDINepM9UOyLkqhG4g7BtGBFKCDvZFyPsw1vufKE=',
    ),
    packages: ['pkg/builder', ...['clusters', 'kubeconfig', 'multi', 'namespace'].map((name) => `providers/${name}`)],
  },
  'kuttl 0.22.0': {
    module: pinned('github.com/kudobuilder/kuttl', 'v0.22.0', 'h1:GsJ8md2kEhAHLfHgHB2WQ/SyVCGah+R6sGLRGwPjMg8='),
    tags: ['integration'],
    packages: ['pkg/kubernetes'],
  },
  'helm-operator-plugins 0.8.0': {
    module: pinned(
      'github.com/operator-framework/helm-operator-plugins',
      'v0.8.0',
      'h1:0f6HOQC5likkf0b/OvGvw7nhDb6h8Cj5twdCNjwNzMc=',
    ),
    packages: ['client', 'manager', 'reconciler', 'storage'].map((name) => `pkg/${name}`),
  },
  'RabbitMQ cluster operator 2.16.0': {
    module: pinned(
      'github.com/rabbitmq/cluster-operator/v2',
      'v2.16.0',
      'h1:oYJm+1tXIatGHtiUWyN9hGdO+0eWsXA/j1b81wh0IqI=',
    ),
    packages: ['api/v1beta1', 'controllers'],
  },
}
