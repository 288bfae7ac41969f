/**
 * envtest: skiff under the names of kube-apiserver and etcd, for suites that start those two (KUBEBUILDER_ASSETS). Called by the
 * launchers in bin/envtest with the name first; it turns their command lines into a cluster, and knows nothing of its rules.
 */
import { helpText } from './help.ts'

export async function main([name, ...args]: readonly string[]): Promise<void> {
  if (args.includes('--help')) process.stdout.write(helpText(name ?? ''))
  else if (name === 'etcd') (await import('./etcd.ts')).etcd(args, process.env)
  else if (name === 'kube-apiserver') await (await import('./kube-apiserver.ts')).kubeApiserver(args, process.env)
  else {
    process.stderr.write(`skiff: run-as: there is no "${name}"; use kube-apiserver or etcd\n`)
    process.exit(2)
  }
}
