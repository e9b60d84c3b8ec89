import type { Endpoint } from './endpoint.ts'

/** The methods that the endpoints at a path take. */
export function allowedMethods(endpoints: readonly Endpoint[]): (path: string) => string[] {
  const patterns = endpoints.map(({ path, method }) => ({ method, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`) }))
  return (path) => {
    const methods = new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method as string))
    if (methods.has('GET')) methods.add('HEAD')
    return [...methods]
  }
}
