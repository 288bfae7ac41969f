/** skiff envtest path: where the executables are that stand for kube-apiserver, etcd and kubectl. */
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { messageOf } from '../base/errors.ts'
import { StartError } from '../cluster/errors.ts'

/** @throws StartError when one of them is missing, or may not be run */
export function printAssets(): void {
  // bin/skiff.js is the program that runs, whatever this code was bundled into.
  const bin = dirname(process.argv[1] ?? '')
  // In a release everything is in one folder.
  const folder = existsSync(join(bin, 'envtest')) ? join(bin, 'envtest') : bin
  for (const name of ['kube-apiserver', 'etcd', 'kubectl']) {
    try {
      accessSync(join(folder, name), constants.X_OK)
    } catch (cause) {
      throw new StartError(`${join(folder, name)} cannot be run: ${messageOf(cause)}`, { cause })
    }
  }
  process.stdout.write(`${folder}\n`)
}
