/**
 * Looks at every page of an LMDB file that its newest transaction uses. LMDB trusts what it finds there: a page that is not as it was
 * written would end the process by an assertion or a signal, or hide rows. What the rows themselves hold is not looked at: they carry
 * checksums.
 */
import { fstatSync, readSync } from 'node:fs'

export interface Meta {
  readonly pageSize: number
  readonly lastPage: number
  readonly transaction: number
  /** Of free pages, and of the tables by their names. */
  readonly free: Tree
  readonly main: Tree
}

export interface Tree {
  /** As LMDB has them. */
  readonly flags: number
  readonly depth: number
  readonly entries: number
  /** The page at its top, if there is one. */
  readonly root: number | undefined
}

export interface PagesFound {
  /** What is wrong, if anything is. */
  readonly damage?: string
  /** Where the last page that is used ends, in bytes. */
  readonly end: number
}

const META_BYTES = 160
const META = 8
const MAGIC = 0xbeefc0de
const DATA_VERSION = 2
const TREE_BYTES = 48
const NO_PAGE = 0xffff_ffff_ffff_ffffn

const BRANCH = 1
const LEAF = 2
const OVERFLOW = 4
/** What a page is, among its flags. */
const KINDS = 0x6f

/** Of a node: where its data is. */
const ELSEWHERE = 1
const IS_TREE = 2
const NODE_HEADER = 8
const OVERFLOW_BYTES = 24

const PAGE_HEADER = 24
const INTEGER_KEYS = 8
/** Several values to a key: no table of a store has them. */
const DUPLICATES = 0x76

/** Of pages that were taken and given back, and are not written. */
const UNWRITTEN_BYTES = 64 << 20

/** Pages that are read at a time where the next ones are wanted too. */
const PAGES_AT_ONCE = 16

export function readMeta(file: number, offset: number): Meta | undefined {
  const page = Buffer.alloc(META_BYTES)
  if (readSync(file, page, 0, META_BYTES, offset) < META_BYTES) return undefined
  const pageSize = page.readUInt32LE(48)
  const isMeta = (page.readUInt16LE(18) & META) !== 0 && page.readUInt32LE(24) === MAGIC
  if (!isMeta || page.readUInt32LE(28) !== DATA_VERSION || !PAGE_SIZES.has(pageSize)) return undefined
  return {
    pageSize,
    lastPage: Number(page.readBigUInt64LE(144)),
    transaction: Number(page.readBigUInt64LE(152)),
    free: treeAt(page, 48),
    main: treeAt(page, 96),
  }
}

const PAGE_SIZES: ReadonlySet<number> = new Set(Array.from({ length: 8 }, (_, i) => 512 << i))

function treeAt(bytes: Buffer, offset: number): Tree {
  const root = bytes.readBigUInt64LE(offset + 40)
  return {
    flags: bytes.readUInt16LE(offset + 4),
    depth: bytes.readUInt16LE(offset + 6),
    entries: Number(bytes.readBigUInt64LE(offset + 32)),
    root: root === NO_PAGE ? undefined : Number(root),
  }
}

/** What is met in a tree. */
interface TreeSeen {
  readonly tree?: (tree: Tree, name: string) => void
  readonly value?: (bytes: Buffer) => void
}

const pagesOf = (valueBytes: number, pageSize: number): number =>
  Math.floor((PAGE_HEADER - 1 + valueBytes) / pageSize) + 1

/** Damage that has been found; nothing else is thrown. */
class Damage extends Error {}

/** A file of the newest `meta`, with no process writing to it. @throws the system's error when it cannot be read */
export function lookAtPages(file: number, { pageSize, lastPage, free, main }: Meta): PagesFound {
  const { size } = fstatSync(file)
  let end = 2 * pageSize
  const used = new Uint8Array(Math.ceil(Math.min(lastPage + 1, size / pageSize) / 8))
  const isUsed = (page: number) => ((used[page >> 3] ?? 0) & (1 << (page & 7))) !== 0
  /** Where each run of them begins, and how many they are. */
  const freePages: (readonly [first: number, count: number])[] = []
  const window = Buffer.alloc(pageSize * PAGES_AT_ONCE)
  let windowAt = 0
  let windowBytes = 0

  function use(page: number, what: string): void {
    if (!(page >= 2 && page <= lastPage)) throw new Damage(`${what} is told to be page ${page} of ${lastPage + 1}`)
    if (isUsed(page)) throw new Damage(`page ${page} is used twice`)
    used[page >> 3] = (used[page >> 3] as number) | (1 << (page & 7))
    end = Math.max(end, (page + 1) * pageSize)
  }

  /** The pages, in their order in the file; each is overwritten by the next. */
  function* read(pages: readonly number[]): Generator<readonly [page: number, bytes: Buffer]> {
    const inOrder = Float64Array.from(pages).sort()
    for (const [i, page] of inOrder.entries()) {
      const at = page * pageSize
      if (at < windowAt || at + pageSize > windowAt + windowBytes) {
        let more = 1
        while (more < PAGES_AT_ONCE && inOrder[i + more] === page + more) more++
        windowAt = at
        windowBytes = readSync(file, window, 0, more * pageSize, at)
      }
      const bytes = window.subarray(at - windowAt, at - windowAt + pageSize)
      if (at + pageSize > windowAt + windowBytes)
        throw new Damage(`it is cut off: page ${page} is used, and the file ends after ${size} bytes`)
      if (Number(bytes.readBigUInt64LE(0)) !== page) throw new Damage(`page ${page} is not what was written there`)
      yield [page, bytes]
    }
  }

  function lookAtLargeValues(values: ReadonlyMap<number, number>, seen: TreeSeen): void {
    for (const [page, bytes] of read([...values.keys()])) {
      const valueBytes = values.get(page) as number
      const pages = pagesOf(valueBytes, pageSize)
      if ((bytes.readUInt16LE(18) & KINDS) !== OVERFLOW || bytes.readUInt32LE(20) !== pages)
        throw new Damage(`page ${page} is not the large value that was written there`)
      for (let next = page + 1; next < page + pages; next++) use(next, `a part of page ${page}`)
      if (end > size) throw new Damage(`it is cut off: pages are used up to ${end} bytes, and it has ${size}`)
      if (seen.value === undefined) continue
      const value = Buffer.alloc(valueBytes)
      readSync(file, value, 0, valueBytes, page * pageSize + PAGE_HEADER)
      seen.value(value)
    }
  }

  function lookAtTree(tree: Tree, name: string, seen: TreeSeen = {}): void {
    if (tree.root === undefined) {
      if (tree.entries !== 0) throw new Damage(`${name} has no pages for its ${tree.entries} rows`)
      return
    }
    if ((tree.flags & DUPLICATES) !== 0 || tree.depth < 1 || tree.depth > 32)
      throw new Damage(`what is said of ${name} is damaged`)
    use(tree.root, `the top of ${name}`)
    let level = [tree.root]
    let rows = 0
    const largeValues = new Map<number, number>()
    for (let height = tree.depth; height > 0; height--) {
      const below: number[] = []
      for (const [page, bytes] of read(level)) {
        const isLeaf = height === 1
        if ((bytes.readUInt16LE(18) & KINDS) !== (isLeaf ? LEAF : BRANCH))
          throw new Damage(`page ${page} is no ${isLeaf ? 'leaf' : 'branch'} of ${name}`)
        const nodes = nodesOf(bytes, page, isLeaf, (tree.flags & INTEGER_KEYS) === 0)
        if (!isLeaf) {
          for (const at of nodes) {
            const child = bytes.readUInt32LE(at) + bytes.readUInt16LE(at + 4) * 2 ** 32
            use(child, `a part of ${name} below page ${page}`)
            below.push(child)
          }
          continue
        }
        rows += nodes.length
        for (const at of nodes) {
          const flags = bytes.readUInt16LE(at + 4)
          const data = at + NODE_HEADER + bytes.readUInt16LE(at + 6)
          const valueBytes = bytes.readUInt32LE(at)
          if ((flags & ELSEWHERE) !== 0) {
            const first = Number(bytes.readBigUInt64LE(data))
            if (Number(bytes.readBigUInt64LE(data + 16)) !== pagesOf(valueBytes, pageSize))
              throw new Damage(`what page ${page} says of a large value is damaged`)
            use(first, `a large value of page ${page}`)
            largeValues.set(first, valueBytes)
          } else if ((flags & IS_TREE) !== 0) {
            if (seen.tree === undefined || valueBytes !== TREE_BYTES)
              throw new Damage(`page ${page} is no leaf of ${name}`)
            seen.tree(treeAt(bytes, data), `table ${bytes.toString('latin1', at + NODE_HEADER, data)}`)
          } else seen.value?.(bytes.subarray(data, data + valueBytes))
        }
      }
      level = below
    }
    lookAtLargeValues(largeValues, seen)
    if (rows !== tree.entries) throw new Damage(`${name} has ${rows} rows of ${tree.entries}`)
  }

  /** How many numbers, then those of pages, before which there may be their count below zero where they are a run: LMDB writes to them next. */
  function lookAtFreePages(list: Buffer): void {
    const count = list.length < 8 ? -1 : Number(list.readBigInt64LE(0))
    let isWhole = count >= 0 && 8 + 8 * count <= list.length
    for (let i = 1, run = 1; isWhole && i <= count; i++) {
      const page = Number(list.readBigInt64LE(8 * i))
      isWhole = Math.abs(page) + run - 1 <= lastPage
      if (page > 0) freePages.push([page, run])
      run = page < 0 ? -page : 1
    }
    if (!isWhole) throw new Damage('the list of free pages is damaged')
  }

  /** LMDB would write over pages that are in use, and makes the file as long as it is told to be. */
  function compareWithFreePages(): void {
    let known = Math.max(size, end)
    for (const [first, count] of freePages) {
      for (let page = first; page < first + count; page++)
        if (isUsed(page)) throw new Damage(`page ${page} is used, and in the list of free pages`)
      known = Math.max(known, (first + count) * pageSize)
    }
    if ((lastPage + 1) * pageSize > known + UNWRITTEN_BYTES)
      throw new Damage(`it is told to have ${lastPage + 1} pages, and has ${Math.ceil(known / pageSize)}`)
  }

  /** Where the nodes of a page begin, in the order of their keys. */
  function nodesOf(bytes: Buffer, page: number, isLeaf: boolean, byBytes: boolean): readonly number[] {
    const lower = bytes.readUInt16LE(20)
    const upper = bytes.readUInt16LE(22)
    const room = pageSize - PAGE_HEADER
    const count = lower >> 1
    if ((lower & 1) !== 0 || lower > upper || upper > room || count < (isLeaf || !byBytes ? 1 : 2))
      throw new Damage(`page ${page} is damaged`)
    const nodes: number[] = []
    let before = 0
    for (let i = 0; i < count; i++) {
      const offset = bytes.readUInt16LE(PAGE_HEADER + 2 * i)
      const at = PAGE_HEADER + offset
      if (offset < upper || offset + NODE_HEADER > room) throw new Damage(`page ${page} is damaged`)
      const keyBytes = bytes.readUInt16LE(at + 6)
      const isElsewhere = isLeaf && (bytes.readUInt16LE(at + 4) & ELSEWHERE) !== 0
      const dataBytes = isElsewhere ? OVERFLOW_BYTES : isLeaf ? bytes.readUInt32LE(at) : 0
      if (offset + NODE_HEADER + keyBytes + dataBytes > room) throw new Damage(`page ${page} is damaged`)
      // The first key of a branch is not looked at by LMDB.
      if (byBytes && i > (isLeaf ? 0 : 1) && compareKeys(bytes, before, at) >= 0)
        throw new Damage(`the keys of page ${page} are out of order`)
      before = at
      nodes.push(at)
    }
    return nodes
  }

  try {
    const tables: (readonly [Tree, string])[] = []
    lookAtTree(free, 'the list of free pages', { value: lookAtFreePages })
    lookAtTree(main, 'the list of tables', { tree: (tree, name) => tables.push([tree, name]) })
    for (const [tree, name] of tables) lookAtTree(tree, name)
    compareWithFreePages()
    return { end }
  } catch (error) {
    if (error instanceof Damage) return { damage: error.message, end }
    throw error
  }
}

function compareKeys(bytes: Buffer, first: number, second: number): number {
  const start = first + NODE_HEADER
  const otherStart = second + NODE_HEADER
  const end = start + bytes.readUInt16LE(first + 6)
  return bytes.compare(bytes, otherStart, otherStart + bytes.readUInt16LE(second + 6), start, end)
}
