/**
 * npm run bench:node: pods, Services and idleness of a node of real containers (root, containerd).
 *
 *   npm run bench:node                           skiff's: a machine of its own in namespaces, with two nodes, the second of which is measured: its
 *                                                process is kubelet and proxy alone
 *   npm run bench:node -- --kubeconfig FILE --node-name NAME --node-pid PID [--processes 'kubelet|kube-proxy']
 *                                                any other: PID is a process in the namespaces of the node (its containerd), whose own processes
 *                                                are those there whose command lines match
 *
 * Further flags: --pods 100 --services 1000 --changes 20 --idle-seconds 60 --only ctr,pods,services,idle
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { busyboxArchive, startContainerMachine } from '../../test/containers/stage.ts'
import { IMAGE } from '../../test/containers/traffic.ts'

const MEASURE = fileURLToPath(new URL('measure.ts', import.meta.url))
const given = process.argv.slice(2)

function run(command: readonly string[]): void {
  const [program = '', ...args] = command
  process.exitCode = spawnSync(program, args, { stdio: 'inherit' }).status ?? 1
}

async function ofSkiff(): Promise<void> {
  const machine = await startContainerMachine()
  const end = async () => {
    machine.skiff('down')
    await machine.stop()
  }
  process.once('SIGINT', () => void end().then(() => process.exit(130)))
  try {
    const { status, stderr } = machine.skiff('up', '--runtime', 'cri', '--nodes', '2', '--port', '0', '--detach')
    if (status !== 0) throw new Error(stderr)
    const archive = busyboxArchive(machine.directory, IMAGE)
    const pid = machine.run('pgrep', '-f', 'node-in-namespaces').stdout.trim().split('\n').at(-1) ?? ''
    const of = ['--node-name', 'skiff-2', '--node-pid', pid, '--processes', 'node-in-namespaces']
    const cluster = ['--kubeconfig', join(machine.dataDir, 'kubeconfig'), '--archive', archive]
    const measuring = machine.start(process.execPath, MEASURE, ...cluster, ...of, ...given)
    measuring.stdout?.pipe(process.stdout)
    measuring.stderr?.pipe(process.stderr)
    process.exitCode = await new Promise<number>((resolve) => measuring.once('exit', (code) => resolve(code ?? 1)))
  } finally {
    await end()
  }
}

if (given.includes('--kubeconfig')) {
  const directory = mkdtempSync(join(tmpdir(), 'skiff-bench-'))
  run([process.execPath, MEASURE, '--archive', busyboxArchive(directory, IMAGE), ...given])
  rmSync(directory, { recursive: true, force: true })
} else await ofSkiff()
