/** The API server's HTTPS port. */
import type { EagerHandler } from '../api/request.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import type { HttpLimits } from '../http/limits.ts'
import { type HttpServer, startHttpServer } from '../http/server.ts'
import type { NamedCertificate } from '../http/sni.ts'
import { StartError } from './errors.ts'
import type { Identity } from './identity.ts'

/** Sockets live in the machine's time, whatever the cluster's is. */
const onMachineTime = (runtime: Runtime): Runtime => ({ ...runtime, clock: runtime.machineClock })

/** @throws StartError where the address cannot be had */
export async function listenForClients(
  runtime: Runtime,
  handler: EagerHandler,
  { serving, clientCas, frontProxies }: Identity,
  host: string,
  port: number,
  foreignTime: boolean,
  { named = [], ...limits }: HttpLimits & { readonly named?: readonly NamedCertificate[] },
): Promise<HttpServer> {
  try {
    return await startHttpServer(onMachineTime(runtime), {
      foreignTime,
      takesBrokenBodies: true,
      handler,
      host,
      port,
      limits,
      tls: { ...serving, named, clientCas: [...clientCas, frontProxies.ca] },
    })
  } catch (cause) {
    throw new StartError(whyNotListening(cause as NodeJS.ErrnoException, host, port), { cause })
  }
}

function whyNotListening(error: NodeJS.ErrnoException, host: string, port: number): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `port ${port} of ${host} is in use: choose another with --port, or --port 0 for a free one`
    case 'EACCES':
      return `port ${port} may not be used by this user: choose another with --port`
    default:
      return `cannot listen on ${host} port ${port}: ${messageOf(error)}`
  }
}
