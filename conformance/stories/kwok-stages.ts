/**
 * What KWOK does to its nodes and their pods in a real cluster's recordings, as stages for ours. Each takes as long as KWOK's turns do, so
 * that pods that come at once are ready one after the other.
 */
const TURN = { durationMilliseconds: 10, jitterDurationMilliseconds: 60 }
const stage = (name: string, kind: string, matchExpressions: readonly object[], next: object) => ({
  apiVersion: 'kwok.x-k8s.io/v1alpha1',
  kind: 'Stage',
  metadata: { name },
  spec: { resourceRef: { apiGroup: 'v1', kind }, selector: { matchExpressions }, delay: TURN, next },
})
const is = (key: string, operator: string, ...values: readonly string[]) => ({
  key,
  operator,
  ...(values.length > 0 ? { values } : {}),
})
const READY = '.status.conditions.[] | select( .type == "Ready" ) | .status'
const STAYS = is('.metadata.deletionTimestamp', 'DoesNotExist')

export const kwokStages = [
  stage('node-initialize', 'Node', [is(READY, 'NotIn', 'True')], {
    statusTemplate: `
      {{ $now := Now }}
      {{ $since := or .metadata.creationTimestamp $now }}
      conditions:
      {{ range NodeConditions }}
      - type: {{ .type | Quote }}
        status: {{ .status | Quote }}
        reason: {{ .reason | Quote }}
        message: {{ .message | Quote }}
        lastHeartbeatTime: {{ $now | Quote }}
        lastTransitionTime: {{ $since | Quote }}
      {{ end }}
      nodeInfo:
        architecture: amd64
        bootID: ""
        containerRuntimeVersion: kwok-0.8.0
        kernelVersion: kwok-0.8.0
        kubeProxyVersion: kwok-0.8.0
        kubeletVersion: kwok-0.8.0
        machineID: ""
        operatingSystem: linux
        osImage: ""
        systemUUID: ""
      phase: Running`,
  }),
  stage('pod-ready', 'Pod', [STAYS, is('.status.phase', 'In', 'Pending'), is(READY, 'NotIn', 'True')], {
    statusTemplate: `
      {{ $now := Now }}
      conditions:
      - { type: Initialized, status: "True", lastTransitionTime: {{ $now | Quote }} }
      - { type: Ready, status: "True", lastTransitionTime: {{ $now | Quote }} }
      - { type: ContainersReady, status: "True", lastTransitionTime: {{ $now | Quote }} }
      {{ range .spec.readinessGates }}
      - { type: {{ .conditionType | Quote }}, status: "True", lastTransitionTime: {{ $now | Quote }} }
      {{ end }}
      containerStatuses:
      {{ range .spec.containers }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        ready: true
        restartCount: 0
        state:
          running:
            startedAt: {{ $now | Quote }}
      {{ end }}
      initContainerStatuses:
      {{ range .spec.initContainers }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        ready: true
        restartCount: 0
        {{ if eq .restartPolicy "Always" }}
        started: true
        state:
          running:
            startedAt: {{ $now | Quote }}
        {{ else }}
        state:
          terminated:
            exitCode: 0
            finishedAt: {{ $now | Quote }}
            reason: Completed
            startedAt: {{ $now | Quote }}
        {{ end }}
      {{ end }}
      {{ $ip := PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) .metadata.uid .metadata.name .metadata.namespace }}
      {{ if and $ip (not .spec.hostNetwork) }}
      podIP: {{ $ip | Quote }}
      podIPs:
      - ip: {{ $ip | Quote }}
      {{ end }}
      phase: Running
      startTime: {{ $now | Quote }}`,
  }),
  stage(
    'pod-complete',
    'Pod',
    [STAYS, is('.status.phase', 'In', 'Running'), is('.metadata.ownerReferences.[].kind', 'In', 'Job')],
    {
      statusTemplate: `
      {{ $now := Now }}
      containerStatuses:
      {{ range .spec.containers }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        ready: false
        restartCount: 0
        started: false
        state:
          terminated:
            exitCode: 0
            finishedAt: {{ $now | Quote }}
            reason: Completed
            startedAt: {{ $now | Quote }}
      {{ end }}
      phase: Succeeded`,
    },
  ),
  stage('pod-delete', 'Pod', [is('.metadata.deletionTimestamp', 'Exists')], { delete: true }),
]
