import { z } from 'zod'
import { MUSTER_MCP_SERVER } from '../tools/tool-rules.ts'

/** What tools of a server are called by: `mcp__<server>__<tool>`, so that it contains no two underscores in a row. */
const SERVER_NAME = /^[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*$/

const httpServer = z.strictObject({
  url: z.url({ protocol: /^https?$/, error: 'must look like https://host/mcp' }),
  /** Sent with every request; what a server is reached by is often one of them. */
  headers: z
    .record(z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'is no name of a header'), z.string().regex(/^[\t\x20-\x7e]*$/, 'must be one line of ASCII'))
    .optional(),
})

const stdioServer = z.strictObject({
  command: z.array(z.string().min(1)).min(1).describe('program and arguments; never passed through a shell'),
  env: z.record(z.string(), z.string()).optional(),
})

/** An MCP server of the operator's: at an address, or a program that speaks over its standard input and output. */
export type McpServerSettings = z.infer<typeof httpServer> | z.infer<typeof stdioServer>

export const mcpServersSchema = z.record(
  z
    .string()
    .max(32)
    .regex(SERVER_NAME, 'a name of a server is letters and digits, with single dashes or underscores between them')
    .refine((name) => name.toLowerCase() !== MUSTER_MCP_SERVER, 'this name is that of the server of Muster itself'),
  z.union([httpServer, stdioServer], { error: 'must be {"url": "https://…", "headers": {…}} or {"command": ["program", "argument"], "env": {…}}' }),
)
