/** skiff kubeconfig: what the last start wrote. */
import { readFileSync } from 'node:fs'
import { clusterDirectory } from '../cluster/directory.ts'
import { StartError } from '../cluster/errors.ts'

export function printKubeconfig(dataDir: string): void {
  const { kubeconfig, path } = clusterDirectory(dataDir)
  let text: string
  try {
    text = readFileSync(kubeconfig, 'utf8')
  } catch (cause) {
    throw new StartError(`there is no cluster in ${path} yet: start one with skiff up`, { cause })
  }
  process.stdout.write(text)
}
