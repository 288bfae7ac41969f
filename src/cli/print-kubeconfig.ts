/** skiff kubeconfig: what the last start wrote, or the same for another user. */
import { join } from 'node:path'
import { liveRuntime } from '../base/live-runtime.ts'
import { endpointFromKubeconfig } from '../client/read-kubeconfig.ts'
import { issue } from '../cluster/certificate.ts'
import { clusterDirectory, readIfThere } from '../cluster/directory.ts'
import { StartError } from '../cluster/errors.ts'
import { kubeconfig } from '../cluster/kubeconfig-text.ts'

const CERTIFICATE_DAYS = 365

export function printKubeconfig(dataDir: string, user: string | undefined, groups: readonly string[]): void {
  const directory = clusterDirectory(dataDir)
  const text = readOr(directory.kubeconfig, `there is no cluster in ${directory.path} yet: start one with skiff up`)
  if (user === undefined && groups.length > 0) throw new StartError('--groups needs --user')
  process.stdout.write(user === undefined ? text : forUser(text, directory.pki, user, groups))
}

/** The kubeconfig of a user whose client certificate is signed here: a process that can read the authority's key can sign for any user. */
function forUser(text: string, pki: string, user: string, groups: readonly string[]): string {
  if (user === '') throw new StartError('--user must not be empty')
  const { server, ca = '' } = endpointFromKubeconfig(text)
  const file = (name: string) => readOr(join(pki, name), `the keys of the cluster are not in ${pki}`)
  const authority = { cert: file('ca.crt'), key: file('ca.key') }
  const request = { commonName: user, organizations: groups, usage: 'client', validDays: CERTIFICATE_DAYS } as const
  return kubeconfig({ server, ca, user, client: issue(liveRuntime(), request, authority) })
}

function readOr(file: string, message: string): string {
  const text = readIfThere(file)
  if (text === undefined) throw new StartError(message)
  return text
}
