/** The built-in admission plugins by name, as createAdmissionChain wants them. */
import type { Runtime } from '../../../base/runtime.ts'
import type { AdmissionPluginFactory } from '../plugin.ts'
import { defaultIngressClass, defaultStorageClass } from './default-class.ts'
import { defaultTolerationSeconds } from './default-toleration-seconds.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { priority } from './priority.ts'
import { runtimeClass } from './runtime-class.ts'
import { serviceAccount } from './service-account.ts'
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts'
import { taintNodesByCondition } from './taint-nodes-by-condition.ts'

export function builtinAdmissionPlugins(runtime: Runtime): Readonly<Record<string, AdmissionPluginFactory>> {
  return {
    NamespaceLifecycle: namespaceLifecycle,
    ServiceAccount: serviceAccount(runtime.random),
    TaintNodesByCondition: taintNodesByCondition,
    Priority: priority,
    DefaultTolerationSeconds: defaultTolerationSeconds,
    StorageObjectInUseProtection: storageObjectInUseProtection,
    RuntimeClass: runtimeClass,
    DefaultIngressClass: defaultIngressClass,
    DefaultStorageClass: defaultStorageClass,
  }
}
