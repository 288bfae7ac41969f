/** A cluster whose simulated containers answer, and the real kubectl for it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type StartedCluster, startSkiff } from '../../conformance/server.ts'
import { type Any, type Kubectl, kubectlFor } from '../kubectl.ts'

export interface Stage {
  readonly cluster: StartedCluster
  readonly kubectl: Kubectl
  /** The folder that containers may read from. */
  readonly directory: string
  stop(): Promise<void>
}

export async function startStage(args: readonly string[] = []): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), 'skiff-sim-'))
  const cluster = await startSkiff(['--sim-dir', directory, ...args])
  const kubectl = kubectlFor(cluster.kubeconfig, 'default')
  return {
    cluster,
    kubectl,
    directory,
    stop: async () => {
      await cluster.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

export interface PodWishes {
  readonly annotations?: Readonly<Record<string, string>>
  /** Container by its command's script. */
  readonly containers?: Readonly<Record<string, string>>
  readonly more?: object
}

export const pod = (name: string, { annotations = {}, containers = { c: '' }, more = {} }: PodWishes = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, annotations, labels: { app: name } },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: Object.entries(containers).map(([container, script]) => ({
      name: container,
      image: 'busybox',
      ...(script === '' ? {} : { command: ['sh', '-c', script] }),
    })),
    ...more,
  },
})

export const isReady = (object: Any): boolean =>
  object.status?.conditions?.some((one: Any) => one.type === 'Ready' && one.status === 'True') === true

/** Makes the pods, and waits until each is as asked. */
export async function made(kubectl: Kubectl, wanted: (object: Any) => boolean, ...pods: readonly object[]) {
  using watch = kubectl.watch('pods')
  await kubectl.send('create', ...pods)
  for (const one of pods as readonly Any[])
    await watch.until(({ object }) => object.metadata.name === one.metadata.name && wanted(object))
}
