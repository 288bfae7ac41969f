/**
 * A cluster that asks one server what somebody may do and whose an unknown token is; a test says what the server answers. What
 * the cluster says of it is in its audit log.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'node:test'
import { startTarget } from './attacker.ts'
import { authority } from './issuer.ts'
import { type Answering, startReviewer } from './reviewer.ts'
import { until } from './until.ts'

// biome-ignore lint/suspicious/noExplicitAny: an event of the audit log, as JSON
type AuditEvent = any

/** An AuthorizationConfiguration of these authorizers. */
export const authorizers = (...list: readonly object[]) =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthorizationConfiguration',
    authorizers: list,
  })
export const RBAC = { type: 'RBAC', name: 'rbac' }

export async function startHooked() {
  const directory = mkdtempSync(join(tmpdir(), 'skiff-webhooks-'))
  const path = (name: string) => join(directory, name)
  /** The authorizer that asks the server, with other settings than its usual ones. */
  const webhook = (more: object = {}) => ({
    type: 'Webhook',
    name: 'hook',
    webhook: {
      timeout: '1s',
      authorizedTTL: '1h',
      unauthorizedTTL: '1ms',
      subjectAccessReviewVersion: 'v1',
      matchConditionSubjectAccessReviewVersion: 'v1',
      failurePolicy: 'NoOpinion',
      connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: path('kubeconfig') },
      matchConditions: [
        { expression: "!has(request.resourceAttributes) || request.resourceAttributes.namespace != 'skipped'" },
        { expression: "request.user != 'broken' || request.extra['x'].size() > 0" },
      ],
      ...more,
    },
  })
  const reviewer = await startReviewer(authority())
  reviewer.kubeconfig(path('kubeconfig'))
  writeFileSync(path('authorization.json'), authorizers(webhook(), RBAC))
  writeFileSync(path('tokens.csv'), 't1,probe,u1,"g1,g2"\nt2,broken,u2\nt3,master,u3,"system:masters"\n')
  writeFileSync(
    path('audit.yaml'),
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n',
  )
  const target = await startTarget([
    ...['--authorization-config', path('authorization.json'), '--token-auth-file', path('tokens.csv')],
    ...['--authentication-token-webhook-config-file', path('kubeconfig')],
    ...['--audit-policy-file', path('audit.yaml'), '--audit-log-path', path('audit.log')],
  ])
  const events = (): readonly AuditEvent[] =>
    readFileSync(path('audit.log'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  const reset = () => {
    reviewer.asked.length = 0
    reviewer.requests.length = 0
    reviewer.answer = () => ({ allowed: false })
  }
  reset()
  afterEach(reset)

  return {
    path,
    webhook,
    reviewer,
    target,
    /** GET as a user who is in groups g1 and g2. */
    ask: (at: string, more: object = {}) => target.attempt({ path: at, token: 't1', ...more }),
    post: (at: string, body: object, token = 't1') =>
      target.attempt({ method: 'POST', path: at, body: JSON.stringify(body), token }),
    /** The last event of which this is true, once there is one: reads are answered before their events are written. */
    async audited(matches: (event: AuditEvent) => boolean): Promise<AuditEvent> {
      return until(() => events().findLast(matches))
    },
    events,
    async stop(): Promise<void> {
      await target.stop()
      await reviewer.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** An answer of this status and body. */
export const answers =
  (code: number, text = 'x'): Answering =>
  (_, response) => {
    response.writeHead(code).end(text)
    return undefined
  }
