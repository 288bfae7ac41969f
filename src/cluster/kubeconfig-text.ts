/** The kubeconfig that a started cluster hands out. */
import type { KeyAndCertificate } from './certificate.ts'

export interface KubeconfigOptions {
  /** `https://127.0.0.1:6443` */
  readonly server: string
  /** PEM. */
  readonly ca: string
  readonly user: string
  readonly client: KeyAndCertificate
}

/** JSON strings are YAML strings, so nothing has to be escaped twice. */
export function kubeconfig({ server, ca, user, client }: KubeconfigOptions): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const context = `${user}@skiff`
  return `apiVersion: v1
kind: Config
clusters:
- name: skiff
  cluster:
    server: ${JSON.stringify(server)}
    certificate-authority-data: ${base64(ca)}
contexts:
- name: ${JSON.stringify(context)}
  context:
    cluster: skiff
    user: ${JSON.stringify(user)}
current-context: ${JSON.stringify(context)}
users:
- name: ${JSON.stringify(user)}
  user:
    client-certificate-data: ${base64(client.cert)}
    client-key-data: ${base64(client.key)}
`
}
