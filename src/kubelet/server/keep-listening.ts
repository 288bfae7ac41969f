/** Listening where a port may be taken: by a kubelet that ends only now, or for good. */
import { sleep } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'

/** A port that is taken is tried again after this. */
const RETRY_MS = 5000

/**
 * What `listen` gives: where it fails that is logged as `failure`, and it is tried again. undefined: the signal came first. Never throws, so that
 * what else the kubelet serves does not hang on it.
 */
export async function keepListening<Server>(
  runtime: Runtime,
  failure: string,
  { host, port }: { readonly host: string; readonly port: number },
  listen: () => Promise<Server>,
  signal: AbortSignal,
): Promise<Server | undefined> {
  while (!signal.aborted) {
    try {
      return await listen()
    } catch (error) {
      runtime.log.info(0, failure, { host, port, err: messageOf(error) })
      await sleep(runtime.machineClock, RETRY_MS, signal).catch(() => {})
    }
  }
  return undefined
}
