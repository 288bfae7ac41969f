/** The control groups of the machine, of its pods and of their containers, measured for /metrics/cadvisor. */
import type { Kubelet } from '../kubelet.ts'
import { nameOf, namespaceOf, uidOf } from '../pod.ts'
import type { ContainerUsage } from '../runtimes/runtime.ts'
import type { MeasuredGroup } from '../server/cadvisor.ts'
import { groupUsage } from './cgroup-usage.ts'
import type { Cgroups } from './cgroups.ts'
import { type DiskUse, machineDisks } from './disk-usage.ts'
import { interfacesOf, openFilesOf } from './process-usage.ts'

export interface MeasuredGroupsOptions {
  readonly kubelet: () => Pick<Kubelet, 'pods' | 'runtimeStatus'> | undefined
  readonly cgroups: Pick<Cgroups, 'groupOf' | 'podsGroup'>
  /** Of containers: what their writable layers hold. */
  readonly usage: () => Promise<readonly ContainerUsage[]>
  readonly sandboxImage: string
  /** Default: where the system has them. */
  readonly mount?: string
  readonly proc?: string
  readonly disks?: () => readonly DiskUse[]
}

export async function measuredGroups(options: MeasuredGroupsOptions): Promise<readonly MeasuredGroup[]> {
  const { cgroups, sandboxImage, mount = '/sys/fs/cgroup', proc = '/proc', disks = machineDisks } = options
  const written = new Map((await options.usage()).map((one) => [`${one.podUid}/${one.name}`, one.rootfsBytes]))
  const none = { container: '', image: '', name: '', namespace: '', pod: '' }
  const groups: MeasuredGroup[] = []
  const root = groupUsage(mount, '/')
  if (root !== undefined)
    groups.push({ ...none, id: '/', usage: root, interfaces: interfacesOf(1, proc), disks: disks() })
  const all = groupUsage(mount, cgroups.podsGroup)
  if (all !== undefined) groups.push({ ...none, id: cgroups.podsGroup, usage: all })
  const kubelet = options.kubelet()
  for (const pod of kubelet?.pods.list() ?? []) {
    const path = cgroups.groupOf(pod)
    for (const id of above(path)) {
      const shared = groups.some((one) => one.id === id) ? undefined : groupUsage(mount, id)
      if (shared !== undefined) groups.push({ ...none, id, usage: shared })
    }
    const usage = groupUsage(mount, path)
    if (usage === undefined) continue
    const named = { namespace: namespaceOf(pod), pod: nameOf(pod) }
    groups.push({ ...none, ...named, id: path, usage })
    /** Of what the runtime began below the pod's group. */
    const measure = (id: string) => {
      for (const name of [id, `cri-containerd-${id}.scope`, `crio-${id}.scope`]) {
        const found = groupUsage(mount, `${path}/${name}`)
        if (found !== undefined)
          return { id: `${path}/${name}`, usage: found, openFiles: openFilesOf(found.pids, proc) }
      }
      return undefined
    }
    const { sandboxes, containers } = kubelet!.runtimeStatus(uidOf(pod))
    for (const { id, state, createdAt } of sandboxes) {
      const measured = state === 'ready' ? measure(id) : undefined
      if (measured === undefined) continue
      const [pid] = measured.usage.pids
      const interfaces = pid === undefined ? [] : interfacesOf(pid, proc)
      groups.push({ ...none, ...named, ...measured, image: sandboxImage, name: id, startedAt: createdAt, interfaces })
    }
    for (const { id, state, metadata, image, startedAt } of containers) {
      const measured = state === 'running' ? measure(id) : undefined
      if (measured === undefined) continue
      const writableBytes = written.get(`${uidOf(pod)}/${metadata.name}`)
      groups.push({
        ...named,
        ...measured,
        container: metadata.name,
        image,
        name: id,
        startedAt,
        ...(writableBytes === undefined ? {} : { writableBytes }),
      })
    }
  }
  return groups
}

/** Of a pod's group: the groups that it shares with other pods, the highest first. */
function above(path: string): readonly string[] {
  const names = path.split('/').slice(1, -1)
  return names.map((_, at) => `/${names.slice(0, at + 1).join('/')}`)
}
