/**
 * envtest: skiff under the names of kube-apiserver and etcd, for suites that start those two (KUBEBUILDER_ASSETS). Called by the
 * launchers in bin/envtest with the name first; it turns their command lines into a cluster, and knows nothing of its rules.
 */
import { KUBE_APISERVER_FLAGS } from '../components/kube-apiserver-flags.ts'
import { ETCD_FLAGS } from './etcd-flags.ts'
import { helpOf } from './help.ts'

export async function runExecutable([name, ...args]: readonly string[]): Promise<void> {
  if (args.includes('--help')) process.stdout.write(executableHelp(name ?? ''))
  else if (name === 'etcd') (await import('./etcd.ts')).etcd([name, ...args])
  else if (name === 'kube-apiserver') await (await import('./kube-apiserver.ts')).kubeApiserver(args, process.env)
  else {
    process.stderr.write(`skiff: run-as: there is no "${name}"; use kube-apiserver or etcd\n`)
    process.exit(2)
  }
}

/** Empty for what is none. */
export function executableHelp(name: string): string {
  const table = new Map([
    ['etcd', ETCD_FLAGS],
    ['kube-apiserver', KUBE_APISERVER_FLAGS],
  ]).get(name)
  return table === undefined ? '' : helpOf(name, table)
}
