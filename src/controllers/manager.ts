/**
 * The controller manager: gives each controller its own identity, one set of informers to all, and starts them. `cluster`
 * calls it, over either transport; it may as well run against any other API server.
 */
import type { UserInfo } from '../api/request.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { createInformerFactory, type InformerFactory } from '../client/informer.ts'
import { serviceAccountUser } from '../client/transport.ts'
import { createCertificateSigner, type SignCertificate } from './certificates/signing-controller.ts'
import { createClusterTrustBundlePublisher } from './clustertrustbundle-publisher/clustertrustbundle-publisher.ts'
import type { Controller, ControllerContext, ControllerSettings } from './controller.ts'
import { controllerEntries } from './controllers-list.ts'
import { createGarbageCollector, type GarbageCollector } from './garbage-collector/garbage-collector.ts'
import { createLocalPathProvisioner } from './local-path/local-path-provisioner.ts'
import { createNodeIpamController } from './node-ipam/node-ipam-controller.ts'
import { createRootCaPublisher } from './serviceaccount/root-ca-publisher.ts'
import { createTokenController, type SignToken } from './serviceaccount/token-controller.ts'
import { createStorageVersionMigrator } from './storage-version-migrator/storage-version-migrator-controller.ts'

export interface ControllerManagerOptions {
  readonly runtime: Runtime
  /**
   * A client that speaks as `user` with this user agent; the manager asks for one for itself (system:kube-controller-manager,
   * for the informers) and for one service account for each controller.
   */
  clientFor(identity: { readonly user: UserInfo; readonly userAgent: string }): Client
  /** PEM of the CA that pods are told to trust; without it no ConfigMap is published. */
  readonly rootCa?: string
  /** Signs what the certificate controller has found good; without it nothing is signed. */
  readonly signCertificate?: SignCertificate
  /** A JWT of these claims, by the key of service accounts; without it no Secret gets a token. */
  readonly signToken?: SignToken
  /** Names as in --controllers; default all. */
  readonly controllers?: readonly string[]
  /** How many objects a controller works on at a time, by its name; default: as kube-controller-manager's. */
  readonly concurrentSyncs?: ReadonlyMap<string, number>
  readonly settings?: ControllerSettings
  readonly signal: AbortSignal
}

export interface ControllerManager {
  /** The controllers that run, by their names in --controllers. */
  readonly names: readonly string[]
  readonly garbageCollector: GarbageCollector | undefined
  readonly informers: InformerFactory
}

export const controllerManagerUser: UserInfo = {
  name: 'system:kube-controller-manager',
  groups: ['system:authenticated'],
}
const userAgent = 'kube-controller-manager'

const ROOT_CA_PUBLISHER = 'root-ca-certificate-publisher-controller'
const TRUST_BUNDLE_PUBLISHER = 'kube-apiserver-serving-clustertrustbundle-publisher-controller'
const CERTIFICATE_SIGNER = 'certificatesigningrequest-signing-controller'
const TOKEN_CONTROLLER = 'serviceaccount-token-controller'
const NODE_IPAM = 'node-ipam-controller'
/** Not one of kube-controller-manager's. */
const LOCAL_PATH = 'local-path-provisioner'
const GARBAGE_COLLECTOR = 'garbage-collector-controller'
const STORAGE_VERSION_MIGRATOR = 'storage-version-migrator-controller'

/** All that may run. */
export const CONTROLLER_NAMES: readonly string[] = [
  ...controllerEntries.map(({ name }) => name),
  ROOT_CA_PUBLISHER,
  TRUST_BUNDLE_PUBLISHER,
  CERTIFICATE_SIGNER,
  TOKEN_CONTROLLER,
  NODE_IPAM,
  GARBAGE_COLLECTOR,
  STORAGE_VERSION_MIGRATOR,
]

/** Resolves when every controller runs. Stopped by the signal. @throws what a controller cannot start from */
export async function startControllerManager(options: ControllerManagerOptions): Promise<ControllerManager> {
  const { runtime, signal } = options
  const ownClient = () => options.clientFor({ user: controllerManagerUser, userAgent })
  const informers = createInformerFactory(runtime, ownClient(), signal, ownClient())
  const { concurrentSyncs, settings } = options
  const contextOf = (name: string, serviceAccount: string): ControllerContext => ({
    runtime,
    client: options.clientFor({ user: serviceAccountUser('kube-system', serviceAccount), userAgent }),
    informers,
    signal,
    ...(concurrentSyncs?.has(name) ? { concurrentSyncs: concurrentSyncs.get(name) as number } : {}),
    ...(settings === undefined ? {} : { settings }),
  })
  const names: string[] = []
  const controllers: Controller[] = []
  const { rootCa, signCertificate, signToken } = options
  /** Nothing for a controller that is not wanted. */
  const add = <T extends Controller>(
    name: string,
    serviceAccount: string,
    create: (context: ControllerContext) => T,
  ) => {
    if (options.controllers !== undefined && !options.controllers.includes(name)) return undefined
    const controller = create(contextOf(name, serviceAccount))
    names.push(name)
    controllers.push(controller)
    return controller
  }
  for (const { name, serviceAccount, create } of controllerEntries) add(name, serviceAccount, create)
  if (rootCa !== undefined)
    add(ROOT_CA_PUBLISHER, 'root-ca-cert-publisher', (context) => createRootCaPublisher(context, rootCa))
  if (rootCa !== undefined)
    add(TRUST_BUNDLE_PUBLISHER, 'kube-apiserver-serving-clustertrustbundle-publisher', (context) =>
      createClusterTrustBundlePublisher(context, rootCa),
    )
  if (signCertificate !== undefined)
    add(CERTIFICATE_SIGNER, 'certificate-controller', (context) => createCertificateSigner(context, signCertificate))
  if (rootCa !== undefined && signToken !== undefined)
    add(TOKEN_CONTROLLER, 'serviceaccount-token-controller', (context) => {
      // It hands out what others are known by: as the manager itself.
      const client = options.clientFor({ user: controllerManagerUser, userAgent })
      return createTokenController({ ...context, client }, rootCa, signToken)
    })
  const nodeIpam = settings?.nodeIpam
  if (nodeIpam !== undefined)
    add(NODE_IPAM, 'node-controller', (context) => createNodeIpamController(context, nodeIpam))
  const localPath = settings?.localPath
  if (localPath !== undefined) add(LOCAL_PATH, LOCAL_PATH, (context) => createLocalPathProvisioner(context, localPath))
  const garbageCollector = add(GARBAGE_COLLECTOR, 'generic-garbage-collector', createGarbageCollector)
  if (garbageCollector !== undefined)
    add(STORAGE_VERSION_MIGRATOR, 'storage-version-migrator-controller', (context) =>
      createStorageVersionMigrator(context, garbageCollector),
    )
  informers.start()
  await Promise.all(controllers.map((controller) => controller.start()))
  return { names, garbageCollector, informers }
}
