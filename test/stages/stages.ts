/** Stages in every form that they have, written for these tests: pods that are made, run, fail and go, and nodes that beat. */

const stage = <T extends object>(name: string, apiGroup: string, kind: string, spec: T) => ({
  apiVersion: 'kwok.x-k8s.io/v1alpha1',
  kind: 'Stage',
  metadata: { name },
  spec: { resourceRef: { apiGroup, kind }, ...spec },
})
const is = (key: string, operator: string, ...values: readonly string[]) => ({
  key,
  operator,
  ...(values.length > 0 ? { values } : {}),
})
const ALIVE = is('.metadata.deletionTimestamp', 'DoesNotExist')

/** After ten seconds, or as an annotation says. */
export const podStarts = stage('pod-starts', 'v1', 'Pod', {
  selector: { matchExpressions: [ALIVE, is('.status.podIP', 'DoesNotExist')] },
  delay: {
    durationMilliseconds: 10_000,
    durationFrom: { expressionFrom: '.metadata.annotations["test/delay"]' },
  },
  next: {
    event: { type: 'Normal', reason: 'Begun', message: 'the pod has begun' },
    finalizers: { add: [{ value: 'test/held' }] },
    statusTemplate: `
      {{ $now := Now }}
      conditions:
      - { type: Ready, status: "True", lastTransitionTime: {{ $now | Quote }} }
      containerStatuses:
      {{ range .spec.containers }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        imageID: ""
        ready: true
        restartCount: 0
        state:
          running:
            startedAt: {{ $now | Quote }}
      {{ end }}
      hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
      podIP: {{ PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) .metadata.uid .metadata.name .metadata.namespace | Quote }}
      phase: Running
      startTime: {{ $now | Quote }}`,
  },
})

/** Twice as likely as to fail, where a label asks for an end. */
export const podEnds = stage('pod-ends', 'v1', 'Pod', {
  selector: { matchLabels: { ends: 'yes' }, matchExpressions: [ALIVE, is('.status.phase', 'In', 'Running')] },
  weight: 2,
  delay: { durationMilliseconds: 1000, jitterDurationMilliseconds: 5000 },
  next: { patches: [{ subresource: 'status', root: 'status', template: 'phase: Succeeded' }] },
})
export const podFails = stage('pod-fails', 'v1', 'Pod', {
  selector: {
    matchAnnotations: {},
    matchExpressions: [
      {
        cel: {
          expression:
            "has(self.metadata.labels) && 'ends' in self.metadata.labels && self.metadata.labels.ends == 'yes'",
        },
      },
      ALIVE,
      is('.status.phase', 'In', 'Running'),
    ],
  },
  weightFrom: { expressionFrom: '.metadata.annotations["test/fails"]' },
  delay: { durationMilliseconds: 1000, jitterDurationMilliseconds: 5000 },
  steps: [{ patch: { subresource: 'status', type: 'merge', template: 'status: { phase: Failed, reason: Tested }' } }],
})

export const podIsLetGo = stage('pod-is-let-go', 'v1', 'Pod', {
  selector: { matchExpressions: [is('.metadata.deletionTimestamp', 'Exists')] },
  delay: { durationMilliseconds: 2000 },
  next: { finalizers: { empty: true }, delete: true },
})

export const nodeStarts = stage('node-starts', 'v1', 'Node', {
  selector: { matchExpressions: [is('.status.conditions.[] | select( .type == "Ready" ) | .status', 'NotIn', 'True')] },
  immediateNextStage: true,
  next: {
    statusTemplate: `
      conditions:
      {{ range NodeConditions }}
      - { type: {{ .type }}, status: {{ .status | Quote }}, reason: {{ .reason }}, message: {{ .message | Quote }} }
      {{ end }}
      capacity: { cpu: "4", memory: 8Gi, pods: "50" }
      allocatable: { cpu: "4", memory: 8Gi, pods: "50" }
      phase: Running`,
  },
})

/** A claim of a class of its own is served: of any kind, and makes another object. */
export const claimIsServed = stage('claim-is-served', 'v1', 'ConfigMap', {
  selector: { matchLabels: { twin: 'wanted' }, matchExpressions: [is('.metadata.annotations.done', 'DoesNotExist')] },
  steps: [
    {
      apply: {
        template:
          'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: {{ .metadata.name }}-twin }\ndata: { of: {{ .metadata.uid }} }',
      },
    },
    { patch: { root: 'metadata', template: 'annotations: { done: "yes" }' } },
  ],
})

export const allStages = [podStarts, podEnds, podFails, podIsLetGo, nodeStarts, claimIsServed]
