/** The strategies of pods and of everything that makes pods. Called by the strategy table only. */
import { controllerRevisions } from './controllerrevisions.ts'
import { cronJobs } from './cronjobs.ts'
import { daemonSets } from './daemonsets.ts'
import { deployments } from './deployments.ts'
import type { Strategies } from './index.ts'
import { jobs } from './jobs.ts'
import { withPodFeatures } from './pod-features.ts'
import { pods } from './pods.ts'
import { podTemplates } from './podtemplates.ts'
import { replicaSets } from './replicasets.ts'
import { replicationControllers } from './replicationcontrollers.ts'
import { statefulSets } from './statefulsets.ts'

export const workloadStrategies: Strategies = {
  pods: withPodFeatures(pods, 'spec'),
  podtemplates: withPodFeatures(podTemplates, 'template', 'spec'),
  replicationcontrollers: withPodFeatures(replicationControllers, 'spec', 'template', 'spec'),
  'controllerrevisions.apps': controllerRevisions,
  'daemonsets.apps': withPodFeatures(daemonSets, 'spec', 'template', 'spec'),
  'deployments.apps': withPodFeatures(deployments, 'spec', 'template', 'spec'),
  'replicasets.apps': withPodFeatures(replicaSets, 'spec', 'template', 'spec'),
  'statefulsets.apps': withPodFeatures(statefulSets, 'spec', 'template', 'spec'),
  'cronjobs.batch': withPodFeatures(cronJobs, 'spec', 'jobTemplate', 'spec', 'template', 'spec'),
  'jobs.batch': withPodFeatures(jobs, 'spec', 'template', 'spec'),
}
