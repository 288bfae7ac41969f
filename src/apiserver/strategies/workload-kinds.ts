/** The strategies of pods and of everything that makes pods. Called by the strategy table only. */
import { controllerRevisions } from './controllerrevisions.ts'
import { cronJobs } from './cronjobs.ts'
import { daemonSets } from './daemonsets.ts'
import { deployments } from './deployments.ts'
import type { Strategies } from './index.ts'
import { jobs } from './jobs.ts'
import { pods } from './pods.ts'
import { podTemplates } from './podtemplates.ts'
import { replicaSets } from './replicasets.ts'
import { replicationControllers } from './replicationcontrollers.ts'
import { statefulSets } from './statefulsets.ts'

export const workloadStrategies: Strategies = {
  pods,
  podtemplates: podTemplates,
  replicationcontrollers: replicationControllers,
  'controllerrevisions.apps': controllerRevisions,
  'daemonsets.apps': daemonSets,
  'deployments.apps': deployments,
  'replicasets.apps': replicaSets,
  'statefulsets.apps': statefulSets,
  'cronjobs.batch': cronJobs,
  'jobs.batch': jobs,
}
