/** Full names of images, as container runtimes complete them. */

/** `busybox:1.36` is `docker.io/library/busybox:1.36`; without tag or digest the tag is `latest`. */
export function fullImageName(image: string): string {
  const slash = image.indexOf('/')
  const first = slash < 0 ? '' : image.slice(0, slash)
  const hasHost = first !== '' && (first.includes('.') || first.includes(':') || first === 'localhost')
  const named = hasHost ? image : slash < 0 ? `docker.io/library/${image}` : `docker.io/${image}`
  if (named.includes('@') || named.lastIndexOf(':') > named.lastIndexOf('/')) return named
  return `${named}:latest`
}

/** As it was written, with the tag that is meant where there is none. */
export function taggedName(image: string): string {
  return image.includes('@') || image.lastIndexOf(':') > image.lastIndexOf('/') ? image : `${image}:latest`
}

/** The registry of a full name. */
export function imageHost(name: string): string {
  return name.slice(0, name.indexOf('/'))
}
