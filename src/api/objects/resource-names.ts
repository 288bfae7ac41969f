/** The names of resources that need more than their name to be understood. */

/** `hugepages-2Mi` and the like: the size of the page is part of the name. */
export const isHugePageResource = (name: string): boolean => name.startsWith('hugepages-')
