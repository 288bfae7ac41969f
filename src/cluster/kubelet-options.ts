/** What an administrator may say about the way to kubelets, read from the files named and refused with a reason. */
import { ADDRESS_TYPES, type KubeletClientOptions } from '../apiserver/nodes/kubelets.ts'
import { StartError } from './errors.ts'
import { keyPair, rootCertificates } from './pem-files.ts'
import type { Pki } from './pki.ts'
import { readText } from './read-file.ts'

/** Named after kube-apiserver's flags. */
export interface KubeletFlags {
  /** PEM files. Default: a certificate of the cluster's own authority, bound to system:kubelet-api-admin. */
  readonly kubeletClientCertificate?: string
  readonly kubeletClientKey?: string
  /** PEM file of the authorities that kubelets' certificates must come from. Default: they are not verified. */
  readonly kubeletCertificateAuthority?: string
  /** Default: InternalIP, ExternalIP, Hostname, InternalDNS, ExternalDNS. */
  readonly kubeletPreferredAddressTypes?: readonly string[]
}

/** Before what is said of files for the way to kubelets: the API of nodes is the first that needs it. */
const PREFIX = 'problem initializing API group "": '

/** @throws StartError with the flag or file and what is wrong with it */
export async function loadKubeletOptions(
  flags: KubeletFlags,
  pki: Pick<Pki, 'kubeletClient'>,
): Promise<KubeletClientOptions> {
  const { kubeletClientCertificate, kubeletClientKey, kubeletCertificateAuthority, kubeletPreferredAddressTypes } =
    flags
  const wrong = kubeletPreferredAddressTypes?.find((type) => !(ADDRESS_TYPES as readonly string[]).includes(type))
  if (wrong !== undefined)
    throw new StartError(`--kubelet-preferred-address-types: there is no "${wrong}"; use ${ADDRESS_TYPES.join(', ')}`)
  const read = (file: string) => readText(file, (why) => `${PREFIX}${why}`)
  const named = [kubeletClientCertificate, kubeletClientKey].filter((file) => file !== undefined)
  const [cert, key] = named
  // Of one without the other nothing is made, but what is named must be there.
  if (key === undefined) named.forEach(read)
  return {
    client: cert === undefined || key === undefined ? pki.kubeletClient : keyPair(cert, key, { prefix: PREFIX }),
    ...(kubeletCertificateAuthority === undefined
      ? {}
      : { ca: rootCertificates(read(kubeletCertificateAuthority), PREFIX) }),
    ...(kubeletPreferredAddressTypes === undefined ? {} : { addressTypes: kubeletPreferredAddressTypes }),
  }
}
