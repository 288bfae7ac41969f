/** All stories, by what they are about. */
import type { Story } from './story.ts'
import { autoscalingStories } from './subjects/autoscaling.ts'
import { collectionStories } from './subjects/collection.ts'
import { cronjobsStories } from './subjects/cronjobs.ts'
import { daemonsetsStories } from './subjects/daemonsets.ts'
import { deploymentsStories } from './subjects/deployments.ts'
import { devicesStories } from './subjects/devices.ts'
import { disruptionStories } from './subjects/disruption.ts'
import { identityStories } from './subjects/identity.ts'
import { jobsStories } from './subjects/jobs.ts'
import { nodesStories } from './subjects/nodes.ts'
import { quotaStories } from './subjects/quota.ts'
import { replicasetsStories } from './subjects/replicasets.ts'
import { schedulingStories } from './subjects/scheduling.ts'
import { servicesStories } from './subjects/services.ts'
import { statefulsetsStories } from './subjects/statefulsets.ts'
import { volumesStories } from './subjects/volumes.ts'

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
  volumes: volumesStories,
}
