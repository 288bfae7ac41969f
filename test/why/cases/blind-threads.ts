/** Of forty deletions that hang and twenty healthy ones, written down with what is expected before any of them was asked about, those that did not come out right at once. */
import { define, node, operator, pod, runningPod, workload } from '../stage.ts'
import { type Case, failingHook, held, instance, isMarked, LATER, namespaceOf, says } from './case.ts'
import { operatorWithLog, stuck } from './other-software.ts'

const RBAC = 'rbac.authorization.k8s.io'
export const blindThreads: Readonly<Record<string, Case>> = {
  'cert-manager cleanup': {
    title: 'the Secret of a DNS provider went before a Challenge; the log says so in words that are quoted twice',
    async setUp(stage, namespace) {
      const group = 'acme.cert-manager.io'
      const { question } = await stuck(stage, {
        group,
        kind: 'Challenge',
        namespace,
        finalizer: 'acme.cert-manager.io/finalizer',
      })
      const error = 'error getting cloudflare secret: secrets \\"cloudflare-api\\" not found'
      await operatorWithLog(
        stage,
        'cert-manager',
        group,
        `E1127 10:00:00.000000 1 controller.go:162] "error cleaning up challenge" err="${error}" logger="cert-manager.controller" resource_name="x" resource_namespace="${namespace}" resource_kind="Challenge"\n`,
      )
      return question
    },
    verdict: 'nobody',
    cause: 'needs-missing',
    responsible: /Challenge/,
    sentence: /^secrets\/cloudflare-api does not exist/,
  },
  'vault-secrets-operator 100': {
    title: 'the VaultConnection that a VaultAuth names by a string went before it',
    async setUp(stage, namespace) {
      const group = 'secrets.hashicorp.com'
      await operator(stage, 'vault-secrets-operator-controller-manager', group)
      await define(stage, group, 'VaultConnection')
      return (
        await stuck(stage, {
          group,
          kind: 'VaultAuth',
          namespace,
          finalizer: 'vaultauth.secrets.hashicorp.com/finalizer',
          spec: { vaultConnectionRef: 'vault-connection-sample', method: 'kubernetes' },
        })
      ).question
    },
    verdict: 'nobody',
    cause: 'needs-missing',
    responsible: /vault|VaultAuth/i,
    sentence: /vault-connection-sample/,
  },
  'harvester 5515': {
    title: 'a VirtualMachine of KubeVirt is held by Harvester, whose webhook lets it not change',
    async setUp(stage, namespace) {
      await operatorWithLog(
        stage,
        'harvester',
        'kubevirt5515.io',
        `time="2026-11-27T10:00:00Z" level=error msg="error syncing '${namespace}/x': handler VMController.CleanupPVCAndSnapshot: admission webhook \\"validator.harvesterhci.io\\" denied the request: the volume ${namespace}/disk-0 is already used by VM other, requeuing"\n`,
      )
      return (
        await stuck(stage, {
          group: 'kubevirt5515.io',
          kind: 'VirtualMachine',
          namespace,
          finalizer: 'harvesterhci.io/VMController.CleanupPVCAndSnapshot',
        })
      ).question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /harvester/,
    sentence: /already used by VM other/,
  },
  'eck namespaces': {
    title: 'an operator is told by --namespaces which namespaces it serves, and this is none of them',
    async setUp(stage, namespace) {
      const group = 'elasticsearch27.k8s.elastic.co'
      const { template } = workload('', 'elastic-operator27')['spec']
      await operator(stage, 'elastic-operator27', group, {
        template: {
          ...template,
          spec: {
            ...template.spec,
            containers: [
              {
                name: 'manager',
                image: 'registry.test/eck-operator:2',
                args: ['manager', '--namespaces=prod,staging'],
              },
            ],
          },
        },
      })
      return (
        await stuck(stage, {
          group,
          kind: 'Elasticsearch',
          namespace,
          finalizer: 'finalizer.elasticsearch27.k8s.elastic.co/secure-settings-secret',
        })
      ).question
    },
    verdict: 'nobody',
    cause: 'controller-elsewhere',
    responsible: /elastic-operator27/,
  },
  'crossplane xrd': {
    title:
      'a CompositeResourceDefinition waits for a composite, that for what it is made of, and that has lost its provider',
    async setUp(stage, namespace) {
      const group = 'apiextensions32.crossplane.io'
      await operator(stage, 'crossplane32', group)
      await stage.of({ apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: {} }).patch('crossplane32', 'merge', {
        rules: [{ apiGroups: [group, 'platform32.example.org'], resources: ['*'], verbs: ['*'] }],
      } as never)
      const platform = 'platform32.example.org'
      await define(stage, platform, 'XDatabase')
      await define(stage, 'sql32.gcp.example.org', 'Instance')
      const database = instance('sql32.gcp.example.org', 'Instance', namespace, 'db-1', {
        metadata: { finalizers: ['finalizer.managedresource.sql32.gcp.example.org'] },
      })
      await stage.make(database)
      await stage.remove(database)
      const composite = instance(platform, 'XDatabase', namespace, 'db', {
        metadata: { finalizers: ['composite32.apiextensions32.crossplane.io'] },
        spec: { resourceRefs: [{ apiVersion: 'sql32.gcp.example.org/v1', kind: 'Instance', name: 'db-1' }] },
      })
      await stage.make(composite)
      await stage.remove(composite)
      const { question, object } = await stuck(stage, {
        group,
        kind: 'CompositeResourceDefinition',
        namespace,
        finalizer: 'defined.apiextensions32.crossplane.io',
        spec: { group: platform, names: { kind: 'XDatabase', plural: 'xdatabases' } },
      })
      await stage.status(
        object,
        says(
          'Established',
          'False',
          'TerminatingCompositeResource',
          'waiting for defined composite resources to be deleted: 1 XDatabase is left',
        ),
      )
      return question
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /managedresource/,
  },
  'argo-cd project gone': {
    title: 'the AppProject of an Application went before it; a condition says so by another word and without quotes',
    async setUp(stage, namespace) {
      const group = 'argoproj.io'
      await operator(stage, 'argocd-application-controller', group)
      await define(stage, group, 'AppProject')
      return (
        await stuck(stage, {
          group,
          kind: 'Application',
          namespace,
          finalizer: 'resources-finalizer.argocd.argoproj.io',
          spec: { project: 'team-a' },
          status: says(
            'InvalidSpecError',
            'True',
            'InvalidSpecError',
            'Application referencing project team-a which does not exist',
          ),
        })
      ).question
    },
    verdict: 'nobody',
    cause: 'needs-missing',
    responsible: /argocd|Application/,
    sentence: /^appprojects\/team-a does not exist/,
  },
  'kind gone': {
    title: 'the definition of what a controller has to delete went first; its log says so',
    async setUp(stage, namespace) {
      const group = 'issuing66.test'
      const { question } = await stuck(stage, { group, kind: 'Site', namespace, finalizer: `${group}/cleanup` })
      await operatorWithLog(
        stage,
        'site-operator66',
        group,
        `2026-11-28T09:00:00Z\tERROR\tReconciler error\t{"controllerKind": "Site", "Site": {"name":"x","namespace":"${namespace}"}, "error": "no matches for kind \\"Certificate\\" in version \\"cert-manager66.io/v1\\""}\n`,
      )
      return question
    },
    verdict: 'nobody',
    cause: 'needs-missing',
    responsible: /site-operator66|Site/,
    sentence: /^kind Certificate \(cert-manager66\.io\/v1\) does not exist/,
  },
  'finalize webhook': {
    title: 'an empty namespace is not finalized: a webhook that is gone is asked about namespaces/finalize',
    async setUp(stage, namespace) {
      const hook = failingHook('finalize', {
        apiGroups: [''],
        resources: ['namespaces/finalize'],
        operations: ['UPDATE'],
      })
      const limited = {
        ...hook,
        webhooks: [
          { ...hook['webhooks'][0], namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } },
        ],
      }
      await stage.make(limited)
      await stage.remove(namespaceOf(namespace))
      await stage.until(
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kube-root-ca.crt', namespace } },
        undefined,
      )
      return { kind: 'ns', name: namespace, later: LATER, remove: [limited] }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /finalize|gone/,
  },
  'eviction webhook': {
    title: 'a drain waits: a webhook that is gone is asked about evictions',
    async setUp(stage, namespace) {
      await node(stage, 'evict52', true)
      await runningPod(stage, namespace, 'p', 'evict52', { metadata: { labels: { a: 'b' } } })
      await stage
        .of({ apiVersion: 'v1', kind: 'Node', metadata: {} })
        .patch('evict52', 'merge', { spec: { unschedulable: true } } as never)
      const hook = failingHook('evict', { apiGroups: [''], resources: ['pods/eviction'], operations: ['CREATE'] })
      const limited = {
        ...hook,
        webhooks: [
          { ...hook['webhooks'][0], namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } },
        ],
      }
      await stage.make(limited)
      return { kind: 'node', name: 'evict52', remove: [limited] }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /evict|gone/,
  },
  'aks node class': {
    title: 'an AKSNodeClass waits for a NodeClaim that names it, which is not deleted',
    async setUp(stage, namespace) {
      const group = 'karpenter70.azure.com'
      await operator(stage, 'karpenter70', group)
      await define(stage, 'karpenter70.sh', 'NodeClaim')
      await stage.make(
        instance('karpenter70.sh', 'NodeClaim', namespace, 'c', {
          spec: { nodeClassRef: { group, kind: 'AKSNodeClass', name: 'x' } },
        }),
      )
      return (
        await stuck(stage, { group, kind: 'AKSNodeClass', namespace, finalizer: 'karpenter.azure.com/termination' })
      ).question
    },
    verdict: 'will-end',
    cause: 'in-use',
    responsible: /nodeclaims.karpenter70.sh\/c/,
  },
  'instances of a definition behind a webhook': {
    title: 'a definition whose conversion webhook is gone: its instances cannot be listed',
    async setUp(stage, namespace) {
      const group = 'convert53.test'
      const kind = await define(stage, group, 'Thing')
      await stage.make(instance(group, 'Thing', namespace, 'x', { metadata: held }))
      const conversion = {
        strategy: 'Webhook',
        webhook: {
          conversionReviewVersions: ['v1'],
          clientConfig: { service: { name: 'gone', namespace: 'gone-system' } },
        },
      }
      const [v1] = kind['spec'].versions
      await stage.of(kind).patch(kind['metadata'].name, 'merge', {
        spec: {
          conversion,
          versions: [
            { ...v1, storage: false },
            { ...v1, name: 'v2', storage: true },
          ],
        },
      } as never)
      await stage.remove(kind)
      await stage.until(kind, ({ status }) => JSON.stringify(status ?? {}).includes('InstanceDeletion'))
      return {
        kind: 'crd',
        name: kind['metadata'].name,
        later: LATER,
        undo: () =>
          stage.of(kind).patch(kind['metadata'].name, 'merge', {
            spec: { conversion: { strategy: 'None', webhook: null } },
          } as never),
      }
    },
    verdict: 'nobody',
    cause: 'conversion-webhook',
    responsible: /conversion webhook of things.convert53/,
    sentence: /gone-system\/gone/,
  },
  'chain of namespaces': {
    title: 'a namespace waits for an object whose part is in a namespace that waits for a pod with a finalizer',
    async setUp(stage, namespace) {
      const group = 'tenant73.test'
      await operator(stage, 'tenant73-operator', group)
      const space = await stage.namespace('tenant73-space')
      await stage.make(pod(space, 'p', {}, held))
      await stage.remove(namespaceOf(space))
      await stage.until(pod(space, 'p'), isMarked)
      const { object } = await stuck(stage, {
        group,
        kind: 'Tenant',
        namespace,
        finalizer: 'tenant73.test/cleanup',
        spec: { namespace: space },
      })
      await stage.status(object, says('Ready', 'False', 'Deleting', `waiting for namespace "${space}" to be deleted`))
      await stage.remove(namespaceOf(namespace))
      return { kind: 'ns', name: namespace, later: LATER }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /acme\.test/,
  },
  'hook of a chart': {
    title: 'a pre-delete hook of a chart, a Job, has failed, as a condition of its operator tells',
    async setUp(stage, namespace) {
      const group = 'addon78.test'
      await operator(stage, 'addon78-operator', group)
      const { question, object } = await stuck(stage, {
        group,
        kind: 'Addon',
        namespace,
        finalizer: 'addon78.test/uninstall',
      })
      await stage.status(
        object,
        says(
          'Uninstalled',
          'False',
          'UninstallFailed',
          'failed pre-delete hook: job addon-pre-delete failed: BackoffLimitExceeded',
        ),
      )
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /addon78|Addon/,
    sentence: /BackoffLimitExceeded/,
  },
}

export const blindHealthy: Readonly<Record<string, Case>> = {
  'an object whose controller is not in the cluster and has written its status since': {
    title: '',
    async setUp(stage, namespace) {
      const { question, object } = await stuck(stage, {
        group: 'vpc89.test',
        kind: 'CNINode',
        namespace,
        finalizer: 'networking89.test/resource-cleanup',
      })
      // Clocks of seconds: what was written in the second of the delete says nothing.
      const { metadata } = await stage.of(object).get('x')
      while (Date.now() < Date.parse(metadata.deletionTimestamp ?? '') + 1000) await stage.of(object).get('x')
      await stage
        .of(object)
        .patch(
          'x',
          'apply',
          { apiVersion: object['apiVersion'], kind: 'CNINode', metadata: { name: 'x' }, status: { left: 3 } } as never,
          { subresource: 'status', fieldManager: 'vpc-resource-controller' } as never,
        )
      return question
    },
    verdict: 'slow',
    cause: 'controller-at-work',
    responsible: /vpc-resource-controller/,
  },
}
