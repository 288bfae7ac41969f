/** A worker's share of the seeds: see explore.ts. */
import { parentPort, workerData } from 'node:worker_threads'
import { brokenSeeds, type ExploreOptions, type Story } from './explore.ts'

const { story, options } = workerData as { story: string; options: ExploreOptions }
const { tell } = (await import(story)) as { tell: Story }
parentPort?.postMessage(await brokenSeeds(tell, options))
