/** The flags of `skiff up` that name what an administrator decides, and the options they become. */
import type { SecurityOptions } from '../cluster/security.ts'

export const SECURITY_FLAGS: readonly (readonly [flag: string, option: keyof SecurityOptions])[] = [
  ['--audit-policy-file', 'auditPolicyFile'],
  ['--audit-log-path', 'auditLogPath'],
  ['--audit-log-maxsize', 'auditLogMaxsize'],
  ['--audit-log-maxbackup', 'auditLogMaxbackup'],
  ['--audit-log-maxage', 'auditLogMaxage'],
  ['--encryption-provider-config', 'encryptionProviderConfig'],
  ['--token-auth-file', 'tokenAuthFile'],
]
