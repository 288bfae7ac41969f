/** Job. */
import type { Job } from '../../api/generated/types.ts'
import { withMetadata } from '../../api/metadata.ts'
import type { KubeObject } from '../../api/object.ts'
import { validateJobStatus } from '../../api/validation/job-status.ts'
import { jobWarnings } from '../../api/validation/job-warnings.ts'
import { validateJob, validateJobUpdate } from '../../api/validation/jobs.ts'
import { podNameWarnings, podTemplateUpdateWarnings, podTemplateWarnings } from '../../api/validation/pod-warnings.ts'
import type { Strategy } from '../registry/strategy.ts'
import { createdWith, RESETS_SPEC, RESETS_STATUS, specAndStatus, withFieldOf } from './common.ts'

const CONTROLLER_UID = 'batch.kubernetes.io/controller-uid'

/** A selector of its own and the labels it needs, unless the user brings both (manualSelector). */
function withGeneratedSelector(job: Job): Job {
  const spec = job.spec
  const { name = '', uid = '' } = job.metadata
  const given: Readonly<Record<string, string>> | undefined = spec?.template?.metadata?.labels
  const labels = {
    'batch.kubernetes.io/job-name': name,
    'job-name': name,
    [CONTROLLER_UID]: uid,
    'controller-uid': uid,
    ...given,
  }
  const selector = spec?.selector
  const generated: KubeObject = {
    ...job,
    spec: {
      ...spec,
      selector: { ...selector, matchLabels: { [CONTROLLER_UID]: uid, ...selector?.matchLabels } },
      template: { ...spec?.template, metadata: { ...spec?.template?.metadata, labels } },
    },
  }
  // Labels that were defaulted from the template's follow them.
  const own = job.metadata.labels
  return own !== undefined && own === given ? withMetadata(generated, { labels }) : generated
}

/** A job without labels gets its template's when it is read: they are not judged twice. */
function withTemplateLabels(job: Job): Job {
  const labels = job.spec?.template?.metadata?.labels
  const own = job.metadata.labels
  return labels === undefined || (own !== undefined && Object.keys(own).length > 0)
    ? job
    : withMetadata(job, { labels })
}

export const jobs: Strategy<Job> = {
  ...specAndStatus({}),
  prepareForCreate(object) {
    const created = createdWith(object, {})
    return object.spec?.manualSelector === true ? created : withGeneratedSelector(created)
  },
  validate: (object) => validateJob(object),
  defaultsOnRead: withTemplateLabels,
  validateUpdate: (object, old) => validateJobUpdate(object, old),
  warningsOnCreate: (object) => [
    ...podNameWarnings(object),
    ...podTemplateWarnings(object.spec?.template, 'spec.template'),
    ...jobWarnings(object.spec ?? {}, 'spec'),
  ],
  warningsOnUpdate: (object, old) => podTemplateUpdateWarnings(object, old),
  warningsOnDelete: (options) =>
    options.orphanDependents === undefined && options.propagationPolicy === undefined
      ? [
          'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
        ]
      : [],
  resetFields: RESETS_STATUS,
  defaultGarbageCollectionPolicy: 'OrphanDependents',
  fieldLabels: ['status.successful'],
  fieldLabelProblem: (label) => `field label "${label}" not supported for Job`,
  selectableFields: (object) => ({ 'status.successful': String(object.status?.succeeded ?? 0) }),
  status: {
    prepareForUpdate: (object, old) => withFieldOf(object, old, 'spec'),
    validateUpdate: (object, old) => validateJobStatus(object, old),
    resetFields: RESETS_SPEC,
  },
}
