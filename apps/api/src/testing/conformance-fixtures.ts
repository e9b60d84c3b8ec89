import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequests,
  inputRequired,
  inputResponse,
  MissingRequiredClientCapabilityError,
  type Result,
  type Server,
  type ServerContext,
  type ServerOptions,
} from '@modelcontextprotocol/server'

// What the conformance suite of MCP wants a server to have: tools, resources and prompts by names and contents that the suite knows.

type Parameters = Record<string, unknown>
type Answer = (parameters: Parameters, ctx: ServerContext) => unknown

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAESsAACJWAAACABAAZGF0YQAAAAA='
const IMAGE = { type: 'image', data: PNG, mimeType: 'image/png' }
const STATE = createRequestStateCodec<number>({ key: 'a key of the tests, thirty-two bytes or more' })

const text = (words: string) => ({ type: 'text', text: words })
const says = (words: string) => ({ content: [text(words)] })
const resource = (uri: string, mimeType: string, words: string) => ({ type: 'resource', resource: { uri, mimeType, text: words } })

const form = (message: string, name: string, type: { type: 'string' } | { type: 'boolean' } = { type: 'string' }) =>
  inputRequired.elicit({ message, requestedSchema: { type: 'object', properties: { [name]: type }, required: [name] } })
const question = (words: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: words } }], maxTokens })

/** Asks until every answer is there, and then says them. */
const asks =
  (inputRequests: InputRequests): Answer =>
  (_, { mcpReq: { inputResponses } }) =>
    Object.keys(inputRequests).every((key) => inputResponse(inputResponses, key).kind !== 'missing')
      ? says(JSON.stringify(inputResponses))
      : inputRequired({ inputRequests })

/** The same, with a state that comes back. */
const asksWithState =
  (...rounds: InputRequests[]): Answer =>
  async (_, { mcpReq: { inputResponses, requestState } }) => {
    const round = requestState<number>() ?? 0
    const asked = rounds[round - 1] ?? {}
    const isAnswered = Object.keys(asked).every((key) => inputResponse(inputResponses, key).kind !== 'missing')
    const next = isAnswered ? round : round - 1
    const inputRequests = rounds[next]
    return inputRequests === undefined ? says('state-ok') : inputRequired({ inputRequests, requestState: await STATE.mint(next + 1) })
  }

const NAME = form('What is your name?', 'name')

/** What the client of a request can do. */
const capabilitiesOf = ({ envelope }: ServerContext['mcpReq']) =>
  (envelope as { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities })?.[CLIENT_CAPABILITIES_META_KEY] ?? {}

const pause = () => new Promise((resolve) => setTimeout(resolve, 50))

const TOOLS: Record<string, Answer> = {
  test_simple_text: () => says('This is a simple text response for testing.'),
  test_image_content: () => ({ content: [IMAGE] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({ content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')] }),
  test_multiple_content_types: () => ({
    content: [
      text('Multiple content types test:'),
      IMAGE,
      resource('test://mixed-content-resource', 'application/json', JSON.stringify({ test: 'data', value: 123 })),
    ],
  }),
  test_error_handling: () => ({ isError: true, ...says('This tool intentionally returns an error for testing') }),
  async test_tool_with_progress(_, { mcpReq }) {
    const progressToken = mcpReq._meta?.progressToken
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
      await pause()
    }
    return says('done')
  },
  json_schema_2020_12_tool: () => says('done'),
  test_missing_capability(_, { mcpReq }) {
    if (capabilitiesOf(mcpReq).sampling === undefined) throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } })
    return says('done')
  },
  test_streaming_elicitation: asks({ user_name: NAME }),
  test_logging_tool: () => says('done'),
  test_input_required_result_elicitation: (_, { mcpReq: { inputResponses } }) => {
    const name = acceptedContent(inputResponses, 'user_name')?.name
    return typeof name === 'string' ? says(`Hello, ${name}!`) : inputRequired({ inputRequests: { user_name: NAME } })
  },
  test_input_required_result_sampling: asks({ capital_question: question('What is the capital of France?', 100) }),
  test_input_required_result_list_roots: asks({ client_roots: inputRequired.listRoots() }),
  test_input_required_result_request_state: asksWithState({ confirm: form('Please confirm', 'ok', { type: 'boolean' }) }),
  test_input_required_result_tampered_state: asksWithState({ confirm: form('Please confirm', 'ok', { type: 'boolean' }) }),
  test_input_required_result_multiple_inputs: asksWithState({
    user_name: NAME,
    greeting: question('Generate a greeting', 50),
    client_roots: inputRequired.listRoots(),
  }),
  test_input_required_result_multi_round: asksWithState(
    { step1: form('Step 1: What is your name?', 'name') },
    { step2: form('Step 2: What is your favorite color?', 'color') },
  ),
  test_input_required_result_capabilities(parameters, ctx) {
    const { sampling, elicitation } = capabilitiesOf(ctx.mcpReq)
    return asks({ ...(sampling && { sampled: question('Generate a greeting', 50) }), ...(elicitation && { user_name: NAME }) })(parameters, ctx)
  },
}

const SCHEMAS: Record<string, object> = {
  json_schema_2020_12_tool: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  },
}

const RESOURCES: Record<string, object> = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: PNG },
}
const TEMPLATE = /^test:\/\/template\/(\w+)\/data$/

const user = (content: object) => ({ role: 'user', content })
const PROMPTS: Record<string, { needs: string[]; answer: Answer }> = {
  test_simple_prompt: { needs: [], answer: () => ({ messages: [user(text('This is a simple prompt for testing.'))] }) },
  test_prompt_with_arguments: {
    needs: ['arg1', 'arg2'],
    answer: ({ arg1, arg2 }) => ({ messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))] }),
  },
  test_prompt_with_embedded_resource: {
    needs: ['resourceUri'],
    answer: ({ resourceUri }) => ({
      messages: [
        user(resource(String(resourceUri), 'text/plain', 'Embedded resource content for testing.')),
        user(text('Please process the embedded resource above.')),
      ],
    }),
  },
  test_prompt_with_image: { needs: [], answer: () => ({ messages: [user(IMAGE), user(text('Please analyze the image above.'))] }) },
  test_input_required_result_prompt: {
    needs: [],
    answer: (_, ctx) =>
      inputResponse(ctx.mcpReq.inputResponses, 'user_context').kind === 'missing'
        ? inputRequired({ inputRequests: { user_context: form('What context should the prompt use?', 'context') } })
        : { messages: [user(text('done'))] },
  },
}

interface Request {
  params?: { name?: string; uri?: string; arguments?: Parameters }
}
type Handler = (request: Request, ctx: ServerContext) => Promise<Result>

const listed = {
  tools: Object.keys(TOOLS).map((name) => ({ name, description: 'A fixture.', inputSchema: SCHEMAS[name] ?? { type: 'object' } })),
  resources: Object.keys(RESOURCES).map((uri) => ({ uri, name: uri })),
  resourceTemplates: [{ name: 'data', uriTemplate: 'test://template/{id}/data' }],
  prompts: Object.entries(PROMPTS).map(([name, { needs }]) => ({
    name,
    description: 'A fixture.',
    arguments: needs.map((each) => ({ name: each, required: true })),
  })),
}

/** What a fixture answers, or undefined where the request names none. */
function fixture(method: string, { params: { name = '', uri = '', arguments: parameters = {} } = {} }: Request, ctx: ServerContext): unknown {
  if (method === 'tools/call') return TOOLS[name]?.(parameters, ctx)
  if (method === 'prompts/get') return PROMPTS[name]?.answer(parameters, ctx)
  if (method !== 'resources/read') return undefined
  const id = TEMPLATE.exec(uri)?.[1]
  const content =
    id === undefined ? RESOURCES[uri] : { mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }
  return content && { contents: [{ uri, ...content }] }
}

/** The library's class with the fixtures beside what the product answers: lists have both, and what is no fixture goes to the product. */
export function withFixtures(Original: typeof Server): typeof Server {
  return class extends Original {
    constructor(info: ConstructorParameters<typeof Server>[0], options?: ServerOptions) {
      super(info, { ...options, requestState: { verify: STATE.verify } })
      const set = this.setRequestHandler.bind(this) as (method: string, handler: Handler) => void
      this.setRequestHandler = ((method: string, handler: Handler) =>
        set(method, async (request, ctx) => {
          const found = await fixture(method, request, ctx)
          if (found !== undefined) return found as Result
          const result = await handler(request, ctx)
          for (const [kind, fixtures] of Object.entries(listed)) {
            const own = result[kind]
            if (method.endsWith('/list') && Array.isArray(own)) return { ...result, [kind]: [...own, ...fixtures] }
          }
          return result
        })) as never
    }
  }
}
