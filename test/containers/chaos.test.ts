/**
 * A node in chaos: pods of many kinds come and go at random while the kubelet and the runtime are killed and the disk of images is full.
 * What is looked at is the end: nothing of any pod is left, on a node that still runs.
 *
 *   SKIFF_PODS=200   so many pods instead of a few
 *   SKIFF_SEED=N     the order of seed N, or `random`, which a failure tells; when what runs gets to what is not in the seed's hands
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { seededRandom } from '../../src/base/random.ts'
import { busyboxArchive, type ContainerMachine, startContainerMachine, until, withoutContainers } from './stage.ts'
import { groupNames, groupsLeft, traces } from './traces.ts'
import { IMAGE, service } from './traffic.ts'

const PODS = Number(process.env['SKIFF_PODS'] ?? 20)
const PODS_A_DISASTER = 12
const MOST_AT_ONCE = 12
/** What a node finds left over it looks for each minute, and then again soon. */
const LEFT_MS = 100_000
const MOST_TOGETHER = 4
const GRACES = [0, 1, 1, 2, undefined]

const sh = (script: string) => ['/bin/busybox', 'sh', '-c', script]
const volumeMounts = ['memory', 'disk', 'map', 'secret'].map((name) => ({ name, mountPath: `/${name}` }))
const volumes = [
  { name: 'memory', emptyDir: { medium: 'Memory' } },
  { name: 'disk', emptyDir: {} },
  { name: 'map', configMap: { name: 'map' } },
  { name: 'secret', secret: { secretName: 'secret' } },
]

/** Kinds of pods by the trouble they make. */
const KINDS: readonly ((name: string, at: number) => readonly [spec: object, container: object])[] = [
  () => [{}, { command: sh('exec busybox sleep 9999') }],
  () => [{}, { command: sh('trap "exit 0" TERM; while :; do busybox sleep 0.2; done') }],
  // Obeys nothing but SIGKILL.
  () => [{ terminationGracePeriodSeconds: 2 }, { command: sh('trap "" TERM; while :; do busybox sleep 0.2; done') }],
  () => [{}, { command: sh('exit 3') }],
  () => [{ restartPolicy: 'Never' }, { command: sh('echo done') }],
  // Takes memory until the kernel ends it.
  () => [{}, { command: sh('exec busybox tail /dev/zero'), resources: { limits: { memory: '16Mi', cpu: '200m' } } }],
  () => [{ volumes }, { command: sh('echo x > /disk/x; exec busybox sleep 9999'), volumeMounts }],
  () => [
    { volumes },
    { command: sh('exec busybox sleep 9999'), volumeMounts: [{ name: 'map', mountPath: '/k', subPath: 'key' }] },
  ],
  // Fills the disk of containers.
  () => [{}, { command: sh('busybox dd if=/dev/zero of=/fill bs=1M count=8; exec busybox sleep 9999') }],
  (_, at) => [{}, { command: sh('exec busybox sleep 9999'), ports: [{ containerPort: 8080, hostPort: 20000 + at }] }],
  () => [
    { initContainers: [{ name: 'i', image: IMAGE, imagePullPolicy: 'Never', command: sh('busybox sleep 0.5') }] },
    {
      command: sh('while :; do echo line; busybox sleep 0.1; done'),
      readinessProbe: { exec: { command: ['/bin/busybox', 'true'] }, periodSeconds: 1 },
      lifecycle: { preStop: { exec: { command: sh('busybox sleep 0.3') } } },
    },
  ],
  () => [{}, { command: ['/no/such/program'] }],
]

function podOf(name: string, at: number, kind: number): object {
  const [spec, container] = KINDS[kind]?.(name, at) ?? [{}, {}]
  const labels = { app: 'chaos' }
  const containers = [{ name: 'c', image: IMAGE, imagePullPolicy: 'Never', env: PATH, ...container }]
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, labels },
    spec: { nodeName: 'skiff-1', terminationGracePeriodSeconds: 1, containers, ...spec },
  }
}
const PATH = [{ name: 'PATH', value: '/bin' }]

/** What pods may leave on a node. */
const LOOKS: Readonly<Record<string, string>> = {
  containers: 'ctr -n k8s.io containers list -q',
  tasks: 'ctr -n k8s.io tasks list -q',
  // Of containers, not of images.
  snapshots: 'ctr -n k8s.io snapshots list | grep -i active',
  processes: 'ps -eo stat=,args= | grep -v ^Z | grep -e [b]usybox -e [c]ontainerd-shim',
  mounts: 'grep -e pods/ -e memory/ -e netns -e io.containerd /proc/self/mounts | cut -d" " -f 2',
  namespaces: 'ls /run/netns 2> /dev/null',
  interfaces: 'ip -o link | cut -d: -f2 | cut -d@ -f1',
  routes: 'ip route',
  // The API server listens elsewhere each time.
  rules: `for t in $(nft list tables ip | grep -o "skiff-.*"); do nft list table ip $t; done | sed -E "s/10.244.0.1:[0-9]+/HERE/"`,
  'host ports': 'iptables-save -t nat | grep CNI-DN-',
  results: 'ls /var/lib/cni/results',
  logs: 'ls /var/log/pods; ls /var/log/containers 2> /dev/null',
  sandboxes:
    'find /run/containerd/io.containerd.grpc.v1.cri /run/containerd/io.containerd.runtime.v2.task/k8s.io -mindepth 2',
  bundles: 'ls /run/containerd/io.containerd.runtime.v2.task/k8s.io',
}

describe('a node in chaos', { skip: withoutContainers }, () => {
  let machine: ContainerMachine
  let untouched: ReturnType<typeof traces>
  let atRest: Readonly<Record<string, string>>
  let groups: readonly string[]
  const up = () => {
    // Short of disk soon, and soon no longer.
    const flags = [
      '--eviction-hard',
      'memory.available<10Mi,imagefs.available<5%',
      '--eviction-pressure-transition-period',
      '1s',
    ]
    const { status, stderr } = machine.skiff('up', '--runtime', 'cri', '--port', '0', '--detach', ...flags)
    assert.equal(status, 0, stderr)
  }
  const killKubelet = async () => {
    const pid = /^pid: +(\d+)$/m.exec(machine.skiff('status').stdout)?.[1] ?? ''
    assert.equal(machine.run('kill', '-9', pid).status, 0)
    await until('its end', () => machine.run('kill', '-0', pid).status !== 0)
  }
  const killRuntime = async () => {
    const pids = machine.run('busybox', 'pidof', 'containerd').stdout.trim().split(' ')
    assert.equal(machine.run('kill', '-9', ...pids).status, 0)
    await until('the runtime answers again', () => machine.run('ctr', 'version').status === 0)
  }
  const filler = () => join(machine.directory, 'containerd/filler')
  /**
   * containerd 1.6, when it is interrupted while it begins a sandbox, forgets its shim: no container of the runtime has it, and no client of CRI
   * sees it. What runs in it is in a group of the pod, and ends with that.
   */
  const endAbandonedShims = (): number => {
    const { containers = '', bundles = '' } = left()
    const ids = bundles.split('\n').filter((id) => id !== '' && !containers.includes(id))
    for (const id of ids) {
      const shims = machine.run('pgrep', '-f', `containerd-shim.* -id ${id} `).stdout.trim().split('\n')
      if (machine.run('pgrep', '-P', shims.join(',')).stdout !== '') continue
      machine.run('kill', '-9', ...shims)
      machine.run('rm', '-r', `/run/containerd/io.containerd.runtime.v2.task/k8s.io/${id}`)
    }
    return ids.length
  }
  const left = (): Readonly<Record<string, string>> => ({
    ...Object.fromEntries(Object.entries(LOOKS).map(([what, look]) => [what, machine.run('sh', '-c', look).stdout])),
    groups: groups
      .flatMap((name) => globSync(['/sys/fs/cgroup', '/sys/fs/cgroup/*'].map((tree) => join(tree, name, '**/pod*'))))
      .join('\n'),
    files: globSync(join(machine.dataDir, 'kubelet/skiff-1/{pods,memory}/*')).join('\n'),
    addresses: globSync(join(machine.dataDir, 'kubelet/skiff-1/addresses/*/[0-9]*')).join('\n'),
  })

  before(async () => {
    machine = await startContainerMachine({ imageDisk: '48m' })
    untouched = traces(machine)
    up()
    assert.equal(machine.skiff('image', 'load', busyboxArchive(machine.directory, IMAGE)).status, 0)
    machine.apply(
      { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'map' }, data: { key: 'mapped' } },
      service('chaos', '10.96.0.77', { selector: { app: 'chaos' } }),
      { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'secret' }, stringData: { key: 'hidden' } },
    )
    groups = groupNames(machine)
    atRest = left()
    const { interfaces, routes, rules, ...others } = atRest
    assert.deepEqual(new Set(Object.values(others)), new Set(['']))
    assert.match(rules ?? '', /10\.96\.0\.77/)
  })
  after(async () => {
    machine?.skiff('down')
    await machine?.stop()
  })

  test(`nothing is left of ${PODS} pods`, { timeout: 3_000_000 }, async (t: TestContext) => {
    const wanted = process.env['SKIFF_SEED'] ?? '7'
    const seed = wanted === 'random' ? randomInt(2 ** 31) : Number(wanted)
    t.diagnostic(`SKIFF_SEED=${seed}`)
    const { float } = seededRandom(seed)
    const below = (n: number) => Math.floor(float() * n)
    const live: string[] = []
    const remove = (count: number) => {
      const gone = Array.from({ length: Math.min(count, live.length) }, () => live.splice(below(live.length), 1)).flat()
      const grace = GRACES[below(GRACES.length)]
      const how = grace === undefined ? [] : grace === 0 ? ['--force', '--grace-period=0'] : [`--grace-period=${grace}`]
      if (gone.length > 0) machine.kubectl('delete', 'pod', ...gone, '--wait=false', ...how)
    }
    const disasters = [
      async () => {
        await killKubelet()
        if (float() < 0.5) await killRuntime()
        up()
      },
      async () => killRuntime(),
      async () => {
        machine.run('sh', '-c', `busybox dd if=/dev/zero of=${filler()} bs=64k 2> /dev/null`)
        full = 3
      },
    ]
    let full = 0
    let blind = false
    const counts = Array.from(disasters, () => 0)
    let due = PODS_A_DISASTER / 2
    for (let made = 0; made < PODS; ) {
      const together = Math.min(1 + below(MOST_TOGETHER), PODS - made)
      const pods = Array.from({ length: together }, (_, i) => `p${made + i}`)
      machine.apply(...pods.map((name, i) => podOf(name, made + i, (made + i) % KINDS.length)))
      live.push(...pods)
      made += together
      due -= together
      await wait(float() * 1500)
      if (due <= 0) {
        const least = Math.min(...counts)
        const rarest = disasters.flatMap((_, i) => (counts[i] === least ? [i] : []))
        const which = rarest[below(rarest.length)] ?? 0
        await disasters[which]?.()
        blind ||= full > 0
        counts[which] = (counts[which] ?? 0) + 1
        due += PODS < 100 ? PODS / 4 : PODS_A_DISASTER
      }
      if (full > 0 && --full === 0) machine.run('rm', '-f', filler())
      remove(Math.max(live.length - MOST_AT_ONCE, below(MOST_TOGETHER + 1)))
    }
    machine.run('rm', '-f', filler())
    // A containerd that was started while its disk was full has lost sight of what it could not load then.
    if (blind) await killRuntime()
    t.diagnostic(`kubelet, runtime killed, disk filled: ${counts.join(', ')} times`)
    remove(live.length)
    await until('the pods are gone', () => machine.kubectl('get', 'pods', '-o', 'name').stdout === '')
    let now = left()
    let abandoned = 0
    await until(
      'nothing is left',
      () => {
        abandoned += endAbandonedShims()
        now = left()
        return JSON.stringify(now) === JSON.stringify(atRest)
      },
      LEFT_MS,
    ).catch(() => assert.deepEqual(now, atRest, `SKIFF_SEED=${seed}`))
    t.diagnostic(`${abandoned} shims without a container`)
  })

  test('a pod comes up on that node as before, and down leaves nothing', async () => {
    const pressure = '{.status.conditions[?(@.type=="DiskPressure")].status}'
    await until(
      'the node knows that its disk has room again',
      () => machine.kubectl('get', 'node', 'skiff-1', '-o', `jsonpath=${pressure}`).stdout === 'False',
    )
    machine.apply(podOf('after', 0, 6))
    const phase = () => machine.kubectl('get', 'pod', 'after', '-o', 'jsonpath={.status.phase}').stdout
    await until('it runs', () => phase() === 'Running').catch((error) =>
      assert.fail(`${error}: ${machine.kubectl('describe', 'node,pod').stdout}`),
    )
    assert.notDeepEqual(left(), atRest)
    const { status, stderr } = machine.skiff('down')
    assert.equal(status, 0, stderr)
    assert.deepEqual([traces(machine), groupsLeft(groups)], [untouched, []])
  })
})
