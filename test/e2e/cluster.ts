/** A cluster that `skiff up` started in a process of its own, and namespaces in it, for the tests of this folder. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { storeOfTest } from '../etcd/over-etcd.ts'
import { type Any, type Ended, type Kubectl, kubectlFor } from '../kubectl.ts'

const bin = fileURLToPath(new URL('../../bin/skiff.js', import.meta.url))

export interface E2eCluster {
  readonly dataDir: string
  readonly kubeconfig: string
  /** Speaks to the whole cluster. */
  readonly kubectl: Kubectl
  /** A new namespace that is ready for pods, and a kubectl that speaks to it. */
  namespace(name: string): Promise<Kubectl>
  /** Stops it and starts it again on the same directory. */
  restart(...args: string[]): Promise<void>
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export async function startE2eCluster(...args: string[]): Promise<E2eCluster> {
  const dataDir = mkdtempSync(join(tmpdir(), 'skiff-e2e-'))
  const store = await storeOfTest()
  const up = async (args: readonly string[]) => {
    const usual = ['up', '--detach', '--data-dir', dataDir, '--port', '0', ...store.args]
    const { code, err } = await skiff(...usual, ...args)
    if (code !== 0) throw new Error(`skiff up ended with ${code}: ${err}`)
  }
  const down = () => skiff('down', '--data-dir', dataDir)
  const stop = async () => {
    await down()
    await store.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  try {
    await up(args)
  } catch (error) {
    await stop()
    throw error
  }
  const kubeconfig = join(dataDir, 'kubeconfig')
  const kubectl = kubectlFor(kubeconfig)
  return {
    dataDir,
    kubeconfig,
    kubectl,
    async namespace(name) {
      const inside = kubectlFor(kubeconfig, name)
      await kubectl('create', 'namespace', name)
      using accounts = inside.watch('serviceaccounts')
      await accounts.until(({ object }) => object.metadata.name === 'default')
      return inside
    },
    async restart(...args) {
      await down()
      await up(args)
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** Runs the skiff command to its end. */
export function skiff(...args: string[]): Promise<Ended> {
  const child = spawn(process.execPath, [bin, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text
  })
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })))
}

/** A pod of one simulated container; `annotations` steer it (docs/simulation.md). */
export function pod(name: string, annotations: Readonly<Record<string, string>> = {}, more: Any = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, annotations, ...more.metadata },
    spec: { containers: [{ name: 'main', image: 'busybox' }], ...more.spec },
  }
}

export function configMap(name: string, metadata: Any = {}, data: Any = undefined): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, ...metadata },
    ...(data === undefined ? {} : { data }),
  }
}

/** What an object's dependents say of it. */
export function ownedBy(owner: Any, more: Any = {}): Any {
  const { apiVersion, kind, metadata } = owner
  return { ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid, ...more }] }
}

/** A Deployment, its ReplicaSet and its only Pod, when all are ready, each with a watch that has seen it so. */
export async function readyDeployment(kubectl: Kubectl, name: string, ...flags: string[]) {
  await kubectl('create', 'deployment', name, '--image=nginx', ...flags)
  const deployments = kubectl.watch('deployments', name)
  const replicaSets = kubectl.watch('replicasets', '-l', `app=${name}`)
  const pods = kubectl.watch('pods', '-l', `app=${name}`)
  const deployment = await deployments.until(settled)
  const replicaSet = await replicaSets.until(settled)
  const running = await pods.until(({ object }) => isReady(object))
  return {
    deployments,
    replicaSets,
    pods,
    deployment: deployment.object,
    replicaSet: replicaSet.object,
    pod: running.object,
    [Symbol.dispose]() {
      for (const watch of [deployments, replicaSets, pods]) watch.stop()
    },
  }
}

const settled = ({ object: { metadata, spec, status } }: Any): boolean =>
  status?.observedGeneration === metadata.generation &&
  status.readyReplicas === spec.replicas &&
  status.availableReplicas === spec.replicas

export const isReady = (object: Any): boolean =>
  object.status?.conditions?.some(({ type, status }: Any) => type === 'Ready' && status === 'True') === true
