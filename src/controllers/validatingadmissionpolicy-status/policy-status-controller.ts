/**
 * Checks the expressions of ValidatingAdmissionPolicies against the types of what they are about, and tells in their status
 * what does not fit (KEP-3488). The controller manager starts it; it refuses nothing.
 */
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicySpec } from '../../api/generated/types.ts'
import { typeIssues } from '../../api/validation/policy-expressions.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { kindOfParams, kindsOf, policyKindText, typeOfKind } from './kinds.ts'

const name = 'validatingadmissionpolicy-status-controller'
const policiesResource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingadmissionpolicies',
}
const fieldManager = 'validatingadmissionpolicy-status'
const workers = 5

export function createPolicyStatusController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const policies = informers.informer<ValidatingAdmissionPolicy>(policiesResource)
  const queue = createWorkQueue<string>(runtime, 'validatingadmissionpolicy-status')

  async function sync(key: string): Promise<void> {
    const policy = policies.store.get(key)
    if (policy === undefined) return
    const { generation } = policy.metadata
    if (policy.status?.observedGeneration === generation) return
    const expressionWarnings = await warningsOf(policy.spec ?? {})
    const body = {
      apiVersion: policy.apiVersion,
      kind: policy.kind,
      metadata: { name: key },
      status: {
        observedGeneration: generation as number,
        typeChecking: expressionWarnings.length > 0 ? { expressionWarnings } : {},
      },
    }
    await client
      .resource<ValidatingAdmissionPolicy>(policiesResource)
      .patch(key, 'apply', body, { subresource: 'status', fieldManager, force: true })
  }

  async function warningsOf(
    spec: ValidatingAdmissionPolicySpec,
  ): Promise<readonly { readonly fieldRef: string; readonly warning: string }[]> {
    const { everyVersion } = await client.discover()
    const paramKind = kindOfParams(spec)
    const params = paramKind && (await typeOfKind(client, paramKind))
    const told = new Map<string, string[]>()
    for (const kind of kindsOf(spec, everyVersion)) {
      const object = await typeOfKind(client, kind)
      if (object === undefined) continue
      for (const [fieldRef, issues] of typeIssues(spec, { object, ...(params === undefined ? {} : { params }) })) {
        const own = told.get(fieldRef) ?? []
        own.push(`${policyKindText(kind)}: ${issues}\n`)
        told.set(fieldRef, own)
      }
    }
    return [...told]
      .sort(([a], [b]) => place(a) - place(b))
      .map(([fieldRef, texts]) => ({ fieldRef, warning: texts.join('\n') }))
  }

  return {
    name,
    async start() {
      const enqueue = (policy: ValidatingAdmissionPolicy) => queue.add(policy.metadata.name ?? '')
      policies.addHandlers({ added: enqueue, updated: (_, policy) => enqueue(policy) })
      await policies.whenSynced(signal)
      runWorkers(runtime, queue, context.concurrentSyncs ?? workers, sync, signal)
    },
  }
}

/** Kinds may complain of different validations: they are told in the order of the policy. */
function place(fieldRef: string): number {
  const at = Number(/\[(\d+)\]/.exec(fieldRef)?.[1] ?? 0)
  return at * 2 + (fieldRef.endsWith('messageExpression') ? 1 : 0)
}
