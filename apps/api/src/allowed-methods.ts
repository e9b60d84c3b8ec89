import type { Endpoint } from './endpoint.ts'

/** The methods that the endpoints at a path take. */
export function allowedMethods(endpoints: readonly Endpoint[]): (path: string) => string[] {
  const patterns = endpoints.map(({ path, method, open }) => ({
    method,
    isStream: open !== undefined,
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }))
  return (path) => {
    const fitting = patterns.filter(({ pattern }) => pattern.test(path))
    return [...new Set(fitting.flatMap(({ method, isStream }) => (method === 'GET' && !isStream ? [method, 'HEAD'] : [method])))]
  }
}
