/** kube-scheduler's flags (v1.37), in the form of flags.ts. */
import { CONTROL_PLANE_FLAGS } from './common-flags.ts'
import { flagTable } from './flags.ts'

export const KUBE_SCHEDULER_FLAGS = flagTable(`
${CONTROL_PLANE_FLAGS}
authentication-tolerate-lookup-failure bool used true
config string used
pod-max-in-unschedulable-pods-duration duration used 5m0s
write-config-to string lacking
`)
