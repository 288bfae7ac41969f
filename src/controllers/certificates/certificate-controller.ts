/** What the controllers of CertificateSigningRequests have in common: each request is looked at when it comes and when it changes. */
import type { CertificateSigningRequest } from '../../api/generated/types.ts'
import type { Informer } from '../../client/informer.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'

/** `sync` is given the request's name. */
export function certificateController(
  { runtime, signal }: Pick<ControllerContext, 'runtime' | 'signal'>,
  requests: Informer<CertificateSigningRequest>,
  queueName: string,
  sync: (name: string) => Promise<void>,
): Controller {
  const queue = createWorkQueue<string>(runtime, queueName)
  return {
    name: 'certificate-controller',
    async start() {
      const enqueue = (request: CertificateSigningRequest) => queue.add(request.metadata.name ?? '')
      requests.addHandlers({ added: enqueue, updated: (_, request) => enqueue(request) })
      await requests.whenSynced(signal)
      runWorkers(runtime, queue, 1, sync, signal)
    },
  }
}
