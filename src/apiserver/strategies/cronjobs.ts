/** CronJob. */
import { validateCronJob, validateCronJobUpdate } from '../../api/validation/cronjobs.ts'
import { cronJobWarnings } from '../../api/validation/job-warnings.ts'
import type { Strategy } from '../registry/strategy.ts'
import { RESETS_SPEC, RESETS_STATUS, specAndStatus, withFieldOf } from './common.ts'

export const cronJobs: Strategy = {
  ...specAndStatus({}),
  validate: (object) => validateCronJob(object),
  validateUpdate: (object, old) => validateCronJobUpdate(object, old),
  warningsOnCreate: (object) => cronJobWarnings(object),
  warningsOnUpdate: (object, old) => cronJobWarnings(object, old),
  resetFields: RESETS_STATUS,
  defaultGarbageCollectionPolicy: 'DeleteDependents',
  status: {
    prepareForUpdate: (object, old) => withFieldOf(object, old, 'spec'),
    validateUpdate: () => [],
    resetFields: RESETS_SPEC,
  },
}
