/** All stories, by what they are about. */
import type { Story } from './story.ts'
import { accountsStories } from './subjects/accounts.ts'
import { addressesStories } from './subjects/addresses.ts'
import { autoscalingStories } from './subjects/autoscaling.ts'
import { autoscalingPaceStories } from './subjects/autoscaling-pace.ts'
import { autoscalingSourcesStories } from './subjects/autoscaling-sources.ts'
import { batchesStories } from './subjects/batches.ts'
import { claimBindingStories } from './subjects/claim-binding.ts'
import { claimTurnsStories } from './subjects/claim-turns.ts'
import { claimsStories } from './subjects/claims.ts'
import { clusterRulesStories } from './subjects/cluster-rules.ts'
import { clusterTurnsStories } from './subjects/cluster-turns.ts'
import { collectionStories } from './subjects/collection.ts'
import { collectionTurnsStories } from './subjects/collection-turns.ts'
import { countingStories } from './subjects/counting.ts'
import { cronChangesStories } from './subjects/cron-changes.ts'
import { cronRunsStories } from './subjects/cron-runs.ts'
import { cronjobsStories } from './subjects/cronjobs.ts'
import { daemonsetsStories } from './subjects/daemonsets.ts'
import { deploymentsStories } from './subjects/deployments.ts'
import { deviceLivesStories } from './subjects/device-lives.ts'
import { deviceRulesStories } from './subjects/device-rules.ts'
import { devicesStories } from './subjects/devices.ts'
import { disruptionStories } from './subjects/disruption.ts'
import { endingsStories } from './subjects/endings.ts'
import { endpointTurnsStories } from './subjects/endpoint-turns.ts'
import { identityStories } from './subjects/identity.ts'
import { jobLivesStories } from './subjects/job-lives.ts'
import { jobRulesStories } from './subjects/job-rules.ts'
import { jobTurnsStories } from './subjects/job-turns.ts'
import { jobsStories } from './subjects/jobs.ts'
import { metricsStories } from './subjects/metrics.ts'
import { midwayStories } from './subjects/midway.ts'
import { nodeLivesStories } from './subjects/node-lives.ts'
import { nodeTurnsStories } from './subjects/node-turns.ts'
import { nodesStories } from './subjects/nodes.ts'
import { placementStories } from './subjects/placement.ts'
import { policiesStories } from './subjects/policies.ts'
import { quotaStories } from './subjects/quota.ts'
import { replicasetsStories } from './subjects/replicasets.ts'
import { rolloutsStories } from './subjects/rollouts.ts'
import { schedulingStories } from './subjects/scheduling.ts'
import { schedulingChoicesStories } from './subjects/scheduling-choices.ts'
import { schedulingTurnsStories } from './subjects/scheduling-turns.ts'
import { schedulingWaitsStories } from './subjects/scheduling-waits.ts'
import { sequencesStories } from './subjects/sequences.ts'
import { serviceEndpointsStories } from './subjects/service-endpoints.ts'
import { servicesStories } from './subjects/services.ts'
import { setsStories } from './subjects/sets.ts'
import { slicesStories } from './subjects/slices.ts'
import { statefulsetsStories } from './subjects/statefulsets.ts'
import { taintsStories } from './subjects/taints.ts'
import { turnsStories } from './subjects/turns.ts'
import { volumesStories } from './subjects/volumes.ts'
import { workloadChangesStories } from './subjects/workload-changes.ts'

export const subjects: Readonly<Record<string, Readonly<Record<string, Story>>>> = {
  autoscaling: autoscalingStories,
  collection: collectionStories,
  cronjobs: cronjobsStories,
  daemonsets: daemonsetsStories,
  deployments: deploymentsStories,
  devices: devicesStories,
  disruption: disruptionStories,
  identity: identityStories,
  jobs: jobsStories,
  nodes: nodesStories,
  quota: quotaStories,
  replicasets: replicasetsStories,
  scheduling: schedulingStories,
  services: servicesStories,
  statefulsets: statefulsetsStories,
  metrics: metricsStories,
  'cron-runs': cronRunsStories,
  'job-rules': jobRulesStories,
  placement: placementStories,
  'device-rules': deviceRulesStories,
  rollouts: rolloutsStories,
  policies: policiesStories,
  addresses: addressesStories,
  claims: claimsStories,
  endings: endingsStories,
  taints: taintsStories,
  volumes: volumesStories,
  'autoscaling-pace': autoscalingPaceStories,
  'device-lives': deviceLivesStories,
  'scheduling-waits': schedulingWaitsStories,
  turns: turnsStories,
  'collection-turns': collectionTurnsStories,
  sequences: sequencesStories,
  slices: slicesStories,
  accounts: accountsStories,
  counting: countingStories,
  batches: batchesStories,
  sets: setsStories,
  'cron-changes': cronChangesStories,
  'workload-changes': workloadChangesStories,
  'service-endpoints': serviceEndpointsStories,
  'scheduling-choices': schedulingChoicesStories,
  'claim-binding': claimBindingStories,
  'node-lives': nodeLivesStories,
  'cluster-rules': clusterRulesStories,
  'job-lives': jobLivesStories,
  'autoscaling-sources': autoscalingSourcesStories,
  midway: midwayStories,
  'endpoint-turns': endpointTurnsStories,
  'claim-turns': claimTurnsStories,
  'job-turns': jobTurnsStories,
  'cluster-turns': clusterTurnsStories,
  'scheduling-turns': schedulingTurnsStories,
  'node-turns': nodeTurnsStories,
}
