/** The fields of a message by their numbers: the name in OTLP's JSON, what the value is, and whether there may be many. */
interface Message {
  [number: number]: readonly [name: string, of: 'text' | 'hex' | 'int' | 'bool' | 'double' | 'time' | 'flags' | Message, many?: 'many']
}

const ANY_VALUE: Message = { 1: ['stringValue', 'text'], 2: ['boolValue', 'bool'], 3: ['intValue', 'int'], 4: ['doubleValue', 'double'] }
ANY_VALUE[5] = ['arrayValue', { 1: ['values', ANY_VALUE, 'many'] }]
const KEY_VALUE: Message = { 1: ['key', 'text'], 2: ['value', ANY_VALUE] }
const EVENT: Message = { 1: ['timeUnixNano', 'time'], 2: ['name', 'text'], 3: ['attributes', KEY_VALUE, 'many'] }
const LINK: Message = { 1: ['traceId', 'hex'], 2: ['spanId', 'hex'], 3: ['traceState', 'text'], 4: ['attributes', KEY_VALUE, 'many'], 6: ['flags', 'flags'] }
const SPAN: Message = {
  1: ['traceId', 'hex'],
  2: ['spanId', 'hex'],
  3: ['traceState', 'text'],
  4: ['parentSpanId', 'hex'],
  5: ['name', 'text'],
  6: ['kind', 'int'],
  7: ['startTimeUnixNano', 'time'],
  8: ['endTimeUnixNano', 'time'],
  9: ['attributes', KEY_VALUE, 'many'],
  11: ['events', EVENT, 'many'],
  13: ['links', LINK, 'many'],
  15: ['status', { 2: ['message', 'text'], 3: ['code', 'int'] }],
  16: ['flags', 'flags'],
}
const SCOPE_SPANS: Message = { 1: ['scope', { 1: ['name', 'text'], 2: ['version', 'text'] }], 2: ['spans', SPAN, 'many'] }
const RESOURCE_SPANS: Message = { 1: ['resource', { 1: ['attributes', KEY_VALUE, 'many'] }], 2: ['scopeSpans', SCOPE_SPANS, 'many'] }
const EXPORT: Message = { 1: ['resourceSpans', RESOURCE_SPANS, 'many'] }

const WIRE_TYPES = { int: 0, bool: 0, double: 1, time: 1, text: 2, hex: 2, flags: 5 }

/**
 * Reads an `ExportTraceServiceRequest` of opentelemetry-proto 1 from its bytes into the form of OTLP's JSON. It is written from the specifications of both,
 * so that it shares no mistake with what the SDK writes.
 */
export const decodeExport = (bytes: Buffer): unknown => decode(bytes, EXPORT)

function decode(bytes: Buffer, message: Message): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Error(`A field of ${length} bytes ends after its message.`)
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const wireType = tag & 7
    const known = message[tag >>> 3]
    const number = wireType === 0 || wireType === 2 ? varint() : 0n
    const length = [0, 8, Number(number), undefined, undefined, 4][wireType]
    if (length === undefined) throw new Error(`Field ${tag >>> 3} has wire type ${wireType}.`)
    const content = take(length)
    // A field of a later version.
    if (known === undefined) continue
    const [name, of, many] = known
    if (wireType !== (typeof of === 'string' ? WIRE_TYPES[of] : 2)) throw new Error(`${name} has wire type ${wireType}.`)
    const value = typeof of === 'string' ? READERS[of](content, number) : decode(content, of)
    fields[name] = many === undefined ? value : [...((fields[name] as unknown[] | undefined) ?? []), value]
  }
  return fields
}

const READERS: Record<keyof typeof WIRE_TYPES, (content: Buffer, number: bigint) => unknown> = {
  text: (content) => new TextDecoder('utf-8', { fatal: true }).decode(content),
  hex: (content) => content.toString('hex'),
  int: (_, number) => Number(BigInt.asIntN(64, number)),
  bool: (_, number) => number === 1n,
  double: (content) => content.readDoubleLE(),
  time: (content) => String(content.readBigUInt64LE()),
  flags: (content) => content.readUInt32LE(),
}
