/** A worker's share of the seeds: see explore.ts. */
import { parentPort, workerData } from 'node:worker_threads'
import { type Message, runShare, type Share, type Story } from './explore.ts'

const { story, share } = workerData as { story: string; share: Share }
const { tell } = (await import(story)) as { tell: Story }
const post = (message: Message) => parentPort?.postMessage(message)
await runShare(tell, share, {
  broken: (broken) => post({ broken }),
  happened: (happened) => post({ happened }),
  reached: (reached) => post({ reached }),
})
