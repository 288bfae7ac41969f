import { storageContract } from './contract.ts'
import { openStorage } from './open.ts'

storageContract({
  name: 'memory',
  open: async (runtime) => ({ storage: await openStorage({ runtime, driver: 'memory' }), reopen: undefined }),
  complete: (runtime, promise) => runtime.complete(promise),
})
