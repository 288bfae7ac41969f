/** What `--tls-sni-cert-key` of Kubernetes' servers names: `CERT,KEY`, or `CERT,KEY:NAME,NAME`. */

export interface CertificateAndNames {
  readonly certFile: string
  readonly keyFile: string
  readonly names: readonly string[]
}

/** undefined when it is none. */
export function certificateAndNames(text: string): CertificateAndNames | undefined {
  const at = text.indexOf(':')
  const [certFile = '', keyFile = '', ...more] = (at < 0 ? text : text.slice(0, at)).split(',')
  if (certFile === '' || keyFile === '' || more.length > 0 || at === text.length - 1) return undefined
  return { certFile, keyFile, names: at < 0 ? [] : text.slice(at + 1).split(',') }
}
