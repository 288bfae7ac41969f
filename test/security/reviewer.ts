/** A server on loopback that is asked for reviews: what may somebody do, whose is a token. A test says what it answers. */
import { writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { KeyAndCertificate } from '../../src/cluster/certificate.ts'
import { servingPair } from './issuer.ts'

// biome-ignore lint/suspicious/noExplicitAny: reviews of several kinds, looked at field by field
export type Review = any
/** The status to answer with; undefined when it has answered itself, or never will. */
export type Answering = (review: Review, response: ServerResponse, request: IncomingMessage) => object | undefined

export interface Reviewer {
  readonly url: string
  /** Reviews asked for, those of the system's own users left out. */
  readonly asked: Review[]
  readonly requests: { readonly path: string; readonly authorization: string | undefined }[]
  answer: Answering
  /** Writes the kubeconfig by which it is found. */
  kubeconfig(file: string): void
  stop(): Promise<void>
}

/** Whoever is of the system may do anything: its own components, and administrators, are not what is tested. */
const isSystem = (review: Review) =>
  review.kind === 'SubjectAccessReview' && /^(system:|kubernetes-admin)/.test(review.spec.user ?? '')

export async function startReviewer(ca: KeyAndCertificate): Promise<Reviewer> {
  const server = createServer(servingPair(ca), (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(chunks).toString())
      const send = (status: object) => {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ ...review, status }))
      }
      if (isSystem(review)) return send({ allowed: true })
      reviewer.asked.push(review)
      reviewer.requests.push({ path: request.url ?? '', authorization: request.headers.authorization })
      const status = reviewer.answer(review, response, request)
      if (status !== undefined) send(status)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/review`
  const reviewer: Reviewer = {
    url,
    asked: [],
    requests: [],
    answer: () => ({ allowed: false }),
    kubeconfig: (file) =>
      writeFileSync(
        file,
        JSON.stringify({
          apiVersion: 'v1',
          kind: 'Config',
          clusters: [
            {
              name: 'c',
              cluster: { server: url, 'certificate-authority-data': Buffer.from(ca.cert).toString('base64') },
            },
          ],
          users: [{ name: 'u', user: { token: 'a-token' } }],
          contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
          'current-context': 'x',
        }),
      ),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return reviewer
}
