/** Documented causes of deletions that hang, each as public issues tell it, by its number. */

import type { Case } from './cases/case.ts'
import { deletes } from './cases/deletes.ts'
import { furtherKubernetes } from './cases/further-kubernetes.ts'
import { furtherOperators } from './cases/further-operators.ts'
import { furtherSoftware } from './cases/further-software.ts'
import { judgedWrites } from './cases/judged-writes.ts'
import { namespaces } from './cases/namespaces.ts'
import { operators } from './cases/operators.ts'
import { otherSoftware } from './cases/other-software.ts'
import { owners } from './cases/owners.ts'
import { pods } from './cases/pods.ts'
import { servers } from './cases/servers.ts'
import { services } from './cases/services.ts'
import { storage } from './cases/storage.ts'
import { uses } from './cases/uses.ts'
import { waitsAndWords } from './cases/waits-and-words.ts'

export const CASES: Readonly<Record<string, Case>> = {
  ...pods,
  ...storage,
  ...servers,
  ...owners,
  ...services,
  ...namespaces,
  ...operators,
  ...otherSoftware,
  ...deletes,
  ...furtherSoftware,
  ...judgedWrites,
  ...furtherOperators,
  ...furtherKubernetes,
  ...waitsAndWords,
  ...uses,
}
