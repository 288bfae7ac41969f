/**
 * What a kubelet v1.37.1 gave to pods, refused and kept in its checkpoints, on machines whose shapes it was made to see (recorded.json, 2026-11-26):
 * the managers give, refuse and keep the same, to the checksum.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { ResourceRequirements } from '../../api/generated/types.ts'
import { parseCpuSet } from '../cpu-manager/cpu-set.ts'
import { cpuPolicyOptions } from '../cpu-manager/policy-options.ts'
import type { DevicePlugins } from '../device-plugins/device-plugins.ts'
import { type MachineShape, madeUpTopology } from '../machine/made-up-topology.ts'
import type { Container, Pod } from '../pod.ts'
import { createResourceManagers, type ResourceManagerSettings } from './resource-managers.ts'
import { NO_HINTS } from './topology-hints.ts'
import { topologyPolicyOptions } from './topology-options.ts'

type Amounts = Readonly<Record<string, string>>

interface Kept {
  readonly shared: string
  readonly entries: object
  readonly checksum: number
  readonly memory: object
  readonly memoryChecksum: number
}

interface Step {
  readonly pod?: string
  readonly containers: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly resources?: ResourceRequirements
  readonly refusal?: { readonly reason: string; readonly message: string }
  /** Name of a pod that ends. */
  readonly end?: string
  readonly then?: Kept
}

interface Recording {
  readonly name: string
  readonly shape: MachineShape
  readonly configuration: {
    readonly cpuManagerPolicy?: 'none' | 'static'
    readonly cpuManagerPolicyOptions?: Amounts
    readonly systemReserved?: Amounts
    readonly reservedSystemCPUs?: string
    readonly memoryManagerPolicy?: 'None' | 'Static'
    readonly topologyManagerPolicy?: ResourceManagerSettings['topology']['policy']
    readonly topologyManagerScope?: 'container' | 'pod'
    readonly topologyManagerPolicyOptions?: Amounts
  }
  readonly start: Kept
  readonly steps: readonly Step[]
}

const recordings: readonly Recording[] = JSON.parse(readFileSync(new URL('recorded.json', import.meta.url), 'utf8'))
/** In each recording. */
const WITHHELD = 50 * 1024 * 1024

const settingsOf = ({ configuration }: Recording): ResourceManagerSettings => {
  const { reservedSystemCPUs: named, systemReserved } = configuration
  return {
    cpu: {
      policy: configuration.cpuManagerPolicy ?? 'none',
      options: cpuPolicyOptions(configuration.cpuManagerPolicyOptions ?? {}, () => true),
      reservedMilli: named === undefined ? milliOf(systemReserved?.['cpu']) : parseCpuSet(named).length * 1000,
      ...(named === undefined ? {} : { reservedCpus: parseCpuSet(named) }),
      reconcileMs: 10_000,
    },
    memory: {
      policy: configuration.memoryManagerPolicy ?? 'None',
      reserved: new Map([[0, { memory: WITHHELD }]]),
    },
    topology: {
      policy: configuration.topologyManagerPolicy ?? 'none',
      scope: configuration.topologyManagerScope ?? 'container',
      options: topologyPolicyOptions(configuration.topologyManagerPolicyOptions ?? {}),
    },
  }
}

const milliOf = (cpu = '0') => (cpu.endsWith('m') ? Number(cpu.slice(0, -1)) : Number(cpu) * 1000)

const noDevices: Pick<DevicePlugins, 'hints' | 'podHints' | 'allocate' | 'forget' | 'forgetUnknown'> = {
  hints: () => NO_HINTS,
  podHints: () => NO_HINTS,
  allocate() {},
  forget() {},
  forgetUnknown() {},
}

const podOf = ({ pod = '', containers, initContainers = [], resources }: Step): Pod => ({
  ...{ kind: 'Pod', apiVersion: 'v1', metadata: { name: pod, namespace: 'default', uid: `uid-${pod}` } },
  spec: { containers, initContainers, ...(resources === undefined ? {} : { resources }) },
})

for (const recording of recordings)
  test(`as a kubelet was seen to: ${recording.name}`, () => {
    const directory = mkdtempSync(join(tmpdir(), 'skiff-managers-'))
    after(() => rmSync(directory, { recursive: true, force: true }))
    const withheld = { memory: `${WITHHELD / 2 ** 20}Mi` }
    const topology = madeUpTopology(recording.shape)
    const make = () =>
      createResourceManagers(settingsOf(recording), topology, withheld, directory, noDevices, (_, write) => write())
    let managers = make()
    const kept = (): Kept => {
      const [cpus, memory] = ['cpu', 'memory'].map((of) =>
        JSON.parse(readFileSync(join(directory, `${of}_manager_state`), 'utf8')),
      )
      return {
        shared: cpus.defaultCpuSet,
        entries: cpus.entries ?? {},
        checksum: cpus.checksum,
        memory: memory.entries ?? {},
        memoryChecksum: memory.checksum,
      }
    }
    assert.deepEqual(kept(), recording.start)
    for (const step of recording.steps) {
      if (step.end !== undefined) managers.forget(`uid-${step.end}`)
      else {
        const refusal = managers.admit(podOf(step))
        assert.deepEqual(refusal, step.refusal, step.pod)
        if (refusal !== undefined) managers.forget(`uid-${step.pod}`)
      }
      if (step.then !== undefined) assert.deepEqual(kept(), step.then, step.pod)
      // What is kept is enough for a kubelet that starts anew.
      managers = make()
    }
  })
