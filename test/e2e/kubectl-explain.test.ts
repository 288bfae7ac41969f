/** What kubectl explain tells people: descriptions of built-in kinds, and those of custom resources with what all kinds have. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { withoutKubectl } from '../kubectl.ts'
import { type E2eCluster, startE2eCluster } from './cluster.ts'

const crontabs = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'crontabs.explain.example.com' },
  spec: {
    group: 'explain.example.com',
    scope: 'Namespaced',
    names: { plural: 'crontabs', kind: 'CronTab' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            description: 'Runs a command now and then.',
            type: 'object',
            properties: {
              spec: {
                description: 'When and what.',
                type: 'object',
                properties: {
                  cron: { description: 'Five fields.', type: 'string' },
                  template: {
                    type: 'object',
                    'x-kubernetes-embedded-resource': true,
                    'x-kubernetes-preserve-unknown-fields': true,
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
}

describe('kubectl explain', { skip: withoutKubectl, concurrency: true }, () => {
  let cluster: E2eCluster
  /** Lines as they were before kubectl wrapped them. */
  const explain = async (...args: string[]) => (await cluster.kubectl('explain', ...args)).replace(/\s+/g, ' ')
  before(async () => {
    cluster = await startE2eCluster('--components', 'apiserver')
  })
  after(() => cluster?.stop())

  test('goes to any depth, in any version', async () => {
    const probe = await cluster.kubectl('explain', 'pod.spec.containers.livenessProbe', '--recursive')
    assert.match(probe, /FIELD: livenessProbe <Probe>/)
    assert.match(probe, /httpHeaders\t<\[\]HTTPHeader>\n {6}name\t<string> -required-/)
    const metrics = await cluster.kubectl('explain', 'hpa.spec.metrics.resource.target', '--api-version=autoscaling/v2')
    assert.match(metrics, /averageUtilization\t<integer>/)
    const { err } = await cluster.kubectl.run(['explain', 'pod.spec.nothing'])
    assert.match(err, /field "nothing" does not exist/)
  })

  test('describes a field, its type and the fields below it', async () => {
    const containers = await explain('pod.spec.containers')
    assert.match(containers, /FIELD: containers <\[\]Container> DESCRIPTION: The containers that do the pod's work/)
    assert.match(containers, /A program from an image, run within a pod\./)
    assert.match(containers, /imagePullPolicy <string> enum: Always, IfNotPresent, Never Always asks the registry/)
    assert.doesNotMatch(containers, /<no description>|<empty>/)
    const grace = await explain('pods.spec.terminationGracePeriodSeconds')
    assert.match(grace, /DESCRIPTION: Seconds between the polite stop .* 30 by default/)
    const conditions = await explain('deployments.status.conditions.lastTransitionTime')
    assert.match(conditions, /DESCRIPTION: When the verdict last flipped/)
    // A reference carries no description: that of its type is shown.
    const items = 'crd.spec.versions.schema.openAPIV3Schema.items'
    assert.match(await explain(items), /DESCRIPTION: A schema, or a list of schemas\./)
  })

  test('describes what every object has, with the phrases that conformance tests read', async () => {
    const pods = await explain('pods')
    assert.match(pods, /apiVersion <string> APIVersion defines/)
    assert.match(pods, /metadata <ObjectMeta> Standard object's metadata/)
    assert.match(await explain('pods.metadata'), /creationTimestamp <string> CreationTimestamp is a timestamp/)
  })

  test('--recursive leaves descriptions out', async () => {
    const fields = await explain('pods', '--recursive')
    assert.match(fields, /^KIND: Pod VERSION: v1 DESCRIPTION: Containers that run together on one node/)
    assert.match(fields, /terminationGracePeriodSeconds <integer> tolerations <\[\]Toleration>/)
    assert.doesNotMatch(fields, /polite stop/)
  })

  test('describes custom resources by their own schema, and around it by ours', async () => {
    await cluster.kubectl.send('apply', crontabs)
    await cluster.kubectl('wait', '--for=condition=Established', 'crd/crontabs.explain.example.com')
    for (const versioned of [[], ['--api-version=explain.example.com/v1']]) {
      const whole = await explain('crontabs', ...versioned)
      assert.match(whole, /DESCRIPTION: Runs a command now and then\./)
      assert.match(whole, /apiVersion <string> APIVersion defines/)
      assert.match(whole, /kind <string> Kind names/)
      assert.match(whole, /metadata <ObjectMeta> Standard object's metadata of the CronTab/)
      assert.match(whole, /spec <Object> When and what\./)
    }
    assert.match(await explain('crontabs.metadata'), /creationTimestamp <string> CreationTimestamp is a timestamp/)
    assert.match(await explain('crontabs.spec'), /DESCRIPTION: When and what\. FIELDS: cron <string> Five fields\./)
    assert.match(await explain('crontabs.spec.template'), /metadata <ObjectMeta> Standard object's metadata/)
  })
})
