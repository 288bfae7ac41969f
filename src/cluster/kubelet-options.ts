/** What an administrator may say about the way to kubelets, read from the files named and refused with a reason. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { ADDRESS_TYPES, type KubeletClientOptions } from '../apiserver/nodes/kubelets.ts'
import { messageOf } from '../base/errors.ts'
import { StartError } from './errors.ts'
import type { Pki } from './pki.ts'
import { fromFile } from './read-file.ts'

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

/** @throws StartError with the flag or file and what is wrong with it */
export async function loadKubeletOptions(
  flags: KubeletFlags,
  pki: Pick<Pki, 'kubeletClient'>,
): Promise<KubeletClientOptions> {
  const { kubeletClientCertificate, kubeletClientKey, kubeletCertificateAuthority, kubeletPreferredAddressTypes } =
    flags
  if ((kubeletClientCertificate === undefined) !== (kubeletClientKey === undefined))
    throw new StartError('--kubelet-client-certificate and --kubelet-client-key are given together')
  const wrong = kubeletPreferredAddressTypes?.find((type) => !(ADDRESS_TYPES as readonly string[]).includes(type))
  if (wrong !== undefined)
    throw new StartError(`--kubelet-preferred-address-types: there is no "${wrong}"; use ${ADDRESS_TYPES.join(', ')}`)
  const client =
    kubeletClientCertificate === undefined || kubeletClientKey === undefined
      ? pki.kubeletClient
      : {
          cert: await fromFile(kubeletClientCertificate, async (text) =>
            checked(text, () => new X509Certificate(text)),
          ),
          key: await fromFile(kubeletClientKey, async (text) => checked(text, () => createPrivateKey(text))),
        }
  if (kubeletClientKey !== undefined && !new X509Certificate(client.cert).checkPrivateKey(createPrivateKey(client.key)))
    throw new StartError(`${kubeletClientKey} is not the key of ${kubeletClientCertificate}`)
  return {
    client,
    ...(kubeletCertificateAuthority === undefined
      ? {}
      : {
          ca: await fromFile(kubeletCertificateAuthority, async (text) =>
            checked(text, () => new X509Certificate(text)),
          ),
        }),
    ...(kubeletPreferredAddressTypes === undefined ? {} : { addressTypes: kubeletPreferredAddressTypes }),
  }
}

function checked(text: string, parse: () => unknown): string {
  try {
    parse()
  } catch (cause) {
    throw new Error(`it is no PEM of that kind: ${messageOf(cause)}`, { cause })
  }
  return text
}
