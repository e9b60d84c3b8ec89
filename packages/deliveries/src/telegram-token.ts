/** The secret part of a token, which follows the number of the bot. Servers show the colon between them in more than one way. */
export function secretOf(token: string): string {
  return token.slice(token.indexOf(':') + 1)
}
