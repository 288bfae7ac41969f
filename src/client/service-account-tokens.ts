/**
 * Tokens of service accounts, asked for by TokenRequest and renewed before they expire: how a controller manager lets each of its controllers
 * speak as its own account. An account that is not there is made.
 */
import type { ServiceAccount, AuthenticationV1TokenRequest as TokenRequest } from '../api/generated/types.ts'
import { isAlreadyExists, isNotFound } from '../api/status.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from './client.ts'

export interface ServiceAccountTokenSource {
  of(account: string): {
    /** @throws StatusError */
    get(): Promise<string>
    /** It was not believed: another is asked for. */
    refused(token: string): void
  }
}

const ACCOUNTS = { group: '', version: 'v1', resource: 'serviceaccounts' }
const SECONDS = 3600
/** A token is renewed when this part of its lifetime has passed. */
const RENEW_AFTER = 0.8

export function createServiceAccountTokenSource(
  runtime: Runtime,
  client: Client,
  namespace: string,
): ServiceAccountTokenSource {
  const { clock } = runtime
  const accounts = client.resource<ServiceAccount>(ACCOUNTS).namespace(namespace)
  const requests = client.resource(ACCOUNTS).namespace(namespace)

  async function request(name: string): Promise<string> {
    const review = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: {},
      spec: { audiences: [], expirationSeconds: SECONDS },
    }
    const { status } = (await requests.create(review, { subresource: 'token', name })) as TokenRequest
    if (status === undefined) throw new Error('a token was asked for, and the answer has none')
    return status.token
  }

  async function make(name: string): Promise<void> {
    try {
      await accounts.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } })
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
  }

  return {
    of(name) {
      let known: { readonly token: string; readonly until: number } | undefined
      let asking: Promise<string> | undefined
      const ask = async () => {
        const began = clock.monotonic()
        let token: string
        try {
          token = await request(name)
        } catch (error) {
          if (!isNotFound(error)) throw error
          await make(name)
          token = await request(name)
        }
        known = { token, until: began + SECONDS * 1000 * RENEW_AFTER }
        return token
      }
      return {
        get() {
          if (known !== undefined && clock.monotonic() < known.until) return Promise.resolve(known.token)
          asking ??= ask().finally(() => {
            asking = undefined
          })
          return asking
        },
        refused(token) {
          if (known?.token === token) known = undefined
        },
      }
    },
  }
}
