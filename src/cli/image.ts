/** skiff image: what the node's runtime has, and what is put there from a file. */
import { listImages, loadImages } from '../cluster/images.ts'

export async function imageLoad(dataDir: string, file: string): Promise<void> {
  for (const name of await loadImages(dataDir, file)) process.stdout.write(`${name}\n`)
}

export async function imageList(dataDir: string): Promise<void> {
  const rows = (await listImages(dataDir)).map(({ name, id, bytes }) => ({
    name,
    id,
    size: `${(bytes / 1e6).toFixed(1)}MB`,
  }))
  const width = Math.max(5, ...rows.map(({ name }) => name.length)) + 2
  for (const { name, id, size } of [{ name: 'IMAGE', id: 'ID', size: 'SIZE' }, ...rows])
    process.stdout.write(`${name.padEnd(width)}${id.padEnd(14)}${size}\n`)
}
