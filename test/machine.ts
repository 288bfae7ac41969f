/**
 * What a machine may lack that nothing can install, each found by a probe. A test that needs it is skipped with the probe's
 * words (`{ skip: lacks.address() }`), and CI accepts those skips where the probe finds the same (tools/testing/excuses.ts).
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'

/** Each gives the words of a skip, or false where the machine has it. */
export const lacks = {
  address: () =>
    addressBeyondLoopback() === undefined ? 'this machine has no address but loopback' : (false as const),
  tmpfs: () =>
    canMountTmpfs() ? (false as const) : 'a file system of a chosen size cannot be mounted here (needs root)',
  containers: () => whyNoContainers() ?? (false as const),
  etcd: () => (etcdBinary() === undefined ? 'etcd is not installed here (Debian: etcd-server)' : (false as const)),
  chromium: () =>
    chromiumBinary() === undefined ? 'no Chromium is installed here (Debian: chromium)' : (false as const),
  messageBus: () =>
    spawnSync('dbus-daemon', ['--version']).status === 0 && spawnSync('python3', ['--version']).status === 0
      ? (false as const)
      : 'a message bus needs dbus-daemon and Python here (Debian: dbus-daemon, python3)',
  python: () =>
    spawnSync('python3', ['-c', 'import ensurepip, venv']).status === 0
      ? (false as const)
      : 'Python cannot make a virtual environment here (Debian: python3-venv)',
  chroot: () => (canChroot() ? (false as const) : 'a root directory of its own needs Linux, root, and device files'),
} satisfies Record<string, () => string | false>

/** An IPv4 address of this machine that other machines could reach. */
export const addressBeyondLoopback = (): string | undefined =>
  Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === 'IPv4' && !one.internal)?.address

/** The etcd that tests run: that of the variable ETCD, or the one on the path. */
export function etcdBinary(): string | undefined {
  const named = process.env['ETCD'] ?? 'etcd'
  return spawnSync(named, ['--version']).status === 0 ? named : undefined
}

/** The browser that tests of the page drive: that of the variable CHROMIUM, or the one on the path. */
export function chromiumBinary(): string | undefined {
  const named = process.env['CHROMIUM'] ?? 'chromium'
  return spawnSync('sh', ['-c', 'command -v "$0"', named]).status === 0 ? named : undefined
}

let containers: string | false | undefined

/** Containers need root, a runtime and its tools, and a kernel that makes namespaces. */
function whyNoContainers(): string | undefined {
  containers ??= probeContainers() ?? false
  return containers === false ? undefined : containers
}

function probeContainers(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'containers need Linux and root'
  const isThere = (command: string) =>
    spawnSync('sh', ['-c', 'PATH=$PATH:/usr/sbin:/sbin command -v "$0"', command]).status === 0
  const missing = ['containerd', 'runc', 'nft', 'conntrack', 'iptables', 'ip', 'busybox', 'nsenter'].filter(
    (command) => !isThere(command),
  )
  if (missing.length > 0) return `containers need ${missing.join(', ')} on this machine`
  if (!existsSync('/usr/lib/cni/ptp')) return 'containers need the CNI plugins in /usr/lib/cni'
  const { status } = spawnSync('unshare', [
    '--mount',
    '--net',
    '--pid',
    '--fork',
    '--mount-proc',
    'mount',
    '-t',
    'tmpfs',
    'tmpfs',
    '/run',
  ])
  if (status !== 0) return 'this machine makes no namespaces for containers'
  return canMakeCgroups() ? undefined : 'this machine makes no cgroups for containers'
}

function canMakeCgroups(): boolean {
  const hierarchy = existsSync('/sys/fs/cgroup/memory') ? '/sys/fs/cgroup/memory' : '/sys/fs/cgroup'
  const made = join(hierarchy, `skiff-probe-${process.pid}`)
  try {
    mkdirSync(made)
    rmdirSync(made)
    return true
  } catch {
    return false
  }
}

let tmpfs: boolean | undefined

function canMountTmpfs(): boolean {
  if (tmpfs !== undefined) return tmpfs
  const folder = mkdtempSync(join(tmpdir(), 'skiff-probe-'))
  tmpfs = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]).status === 0
  if (tmpfs) spawnSync('umount', [folder])
  rmdirSync(folder)
  return tmpfs
}

let chroot: boolean | undefined

function canChroot(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  if (chroot !== undefined) return chroot
  const folder = mkdtempSync(join(tmpdir(), 'skiff-probe-'))
  chroot = spawnSync('mknod', [join(folder, 'null'), 'c', '1', '3']).status === 0
  rmSync(folder, { recursive: true })
  return chroot
}
