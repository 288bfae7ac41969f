/** Users that Kubernetes itself names. */
import type { UserInfo } from './request.ts'

/** Requests without credentials (API concept: anonymous requests). */
export const ANONYMOUS_USER: UserInfo = { name: 'system:anonymous', groups: ['system:unauthenticated'] }
/** The user of the kubeconfig that a cluster writes for its administrator. */
export const ADMINISTRATOR: UserInfo = { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }
