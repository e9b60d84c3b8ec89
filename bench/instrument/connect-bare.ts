import postgres, { type Sql } from 'postgres'

/** A pool of the driver as it comes, for what is measured beside Muster. The driver itself reads no socket from a URL. */
export function connectBare(url: string): Sql {
  return postgres(url, { host: decodeURIComponent(new URL(url).hostname) })
}
