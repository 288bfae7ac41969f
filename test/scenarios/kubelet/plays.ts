/** What happened in each recorded scenario, and how its containers behaved, in the words of the simulation's annotations. */
import type { KubeObject } from '../../../src/api/object.ts'
import { type NodeStage, namespace } from './stage.ts'

type Annotations = Readonly<Record<string, string>>

export interface Play {
  /** How the recorded pod's containers behaved. */
  readonly annotations?: Annotations
  /** The recording begins when the pod is deleted. */
  readonly fromDeletion?: true
  /** After the pod was created (and came to rest, with `fromDeletion`). */
  act?(stage: NodeStage): Promise<void>
  /** The recording ends while the pod still changes. */
  readonly unsettled?: true
  /** Seconds that pass in the end. */
  readonly seconds: number
}

const sim = (values: Annotations): Annotations =>
  Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key.includes('/') ? key : `sim.skiff.dev/${key}`, value]),
  )

/** A real runtime takes its time, so that each state is told by itself. */
export const pace: Annotations = sim({ 'sandbox-delay': '400ms', 'start-delay': '100ms', 'stop-delay': '100ms' })

const path = (name: string) => `/api/v1/namespaces/${namespace}/pods/${name}`
const remove =
  (name = 'p', query = '') =>
  async (stage: NodeStage) =>
    void (await stage.ask('DELETE', path(name) + query))

const NOPE =
  'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "/nope": stat /nope: no such file or directory: unknown'
const NO_FILE = "cat: can't open '/ok': No such file or directory\n"

export const plays: Readonly<Record<string, Play>> = {
  'S4-exits-on-sigterm': { fromDeletion: true, act: remove(), seconds: 3 },
  'S4-ignores-sigterm': {
    fromDeletion: true,
    annotations: sim({ 'ignore-sigterm': 'true' }),
    act: remove(),
    seconds: 8,
  },
  'S4-prestop': { fromDeletion: true, annotations: sim({ 'pre-stop-duration': '2s' }), act: remove(), seconds: 8 },
  'S4-prestop-fails': { fromDeletion: true, annotations: sim({ 'pre-stop': 'failure' }), act: remove(), seconds: 8 },
  'S4-forced': { fromDeletion: true, act: remove('p', '?gracePeriodSeconds=0'), seconds: 8 },
  'S5-real-node': {
    fromDeletion: true,
    annotations: sim({ 'ignore-sigterm': 'true' }),
    async act(stage) {
      await remove('b2')(stage)
      await stage.runtime.advance(9000)
      const { body } = await stage.ask('GET', path('b2'))
      const { finalizers: _, ...metadata } = body.metadata
      await stage.ask('PUT', path('b2'), { ...body, metadata } as KubeObject)
    },
    seconds: 3,
  },
  'pod-runs': { seconds: 3 },
  'pod-succeeds': { annotations: sim({ 'exit-after': '2s' }), seconds: 6 },
  'pod-fails': {
    annotations: sim({ 'exit-after': '1s', 'exit-code': '3', 'termination-message': 'why\n' }),
    seconds: 6,
  },
  'pod-init': { annotations: { 'i1.sim.skiff.dev/exit-after': '1s', 'i2.sim.skiff.dev/exit-after': '1s' }, seconds: 6 },
  'pod-init-fails': {
    annotations: { 'i1.sim.skiff.dev/exit-after': '100ms', 'i1.sim.skiff.dev/exit-code': '2' },
    seconds: 6,
  },
  'pod-on-failure': { annotations: sim({ 'exit-after': '1s', 'exit-code': '3' }), seconds: 20 },
  'pod-crash-loop': { annotations: sim({ 'exit-after': '100ms', 'exit-code': '1' }), seconds: 49 },
  'pod-two-containers-one-ends': {
    annotations: { 'd.sim.skiff.dev/exit-after': '2s' },
    async act(stage) {
      await stage.runtime.advance(8000)
      await remove()(stage)
    },
    seconds: 4,
  },
  'pod-sidecar-job': { annotations: { 'c.sim.skiff.dev/exit-after': '3s' }, seconds: 8 },
  'pod-liveness': { annotations: sim({ liveness: 'failure' }), seconds: 6 },
  'pod-readiness': { seconds: 4 },
  'pod-startup-probe': { annotations: sim({ startup: 'success-after=3s', 'startup-output': NO_FILE }), seconds: 6 },
  'pod-image-missing': { unsettled: true, seconds: 26 },
  'pod-image-never': { annotations: sim({ image: 'missing' }), seconds: 3 },
  'pod-missing-configmap-env': { seconds: 3 },
  'pod-missing-secret-volume': { seconds: 3 },
  'pod-active-deadline': { seconds: 7 },
  'pod-bad-command': { unsettled: true, annotations: sim({ 'start-error': NOPE }), seconds: 5 },
}
