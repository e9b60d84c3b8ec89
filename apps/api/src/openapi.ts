import { Registry } from 'prom-client'
import { Document, isCollection, visit } from 'yaml'
import { describeApi } from './openapi/document.ts'
import { endpoints } from './routes/index.ts'

const LINE_LENGTH = 1_200
const PLAIN = /^(?:\$ref|[\w ./-]*)$/

/** The text of `openapi.yaml`, from the endpoints as they are. Needs no database and no port. */
export async function buildOpenApi(): Promise<string> {
  return renderYaml(describeApi(endpoints(new Registry())))
}

/**
 * Deterministic: the same endpoints give the same lines. As YAML 1.1, because many readers still take an unquoted `off` for false. What is short
 * stands on one line: a third of the text would be indentation otherwise.
 */
export function renderYaml(document: object): string {
  const yaml = new Document(document, { version: '1.1', aliasDuplicateObjects: false })
  visit(yaml, {
    Collection(_, node) {
      if (JSON.stringify(node).length <= LINE_LENGTH) node.flow = true
    },
    Scalar(_, node, path) {
      // Parsers disagree about signs within an unquoted text on such a line: those of Go and Java fail at a question mark.
      const isInFlow = path.some((parent) => isCollection(parent) && parent.flow === true)
      if (isInFlow && typeof node.value === 'string' && !PLAIN.test(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  return yaml.toString({
    indent: 1,
    lineWidth: LINE_LENGTH,
    defaultStringType: 'PLAIN',
    defaultKeyType: 'PLAIN',
    flowCollectionPadding: false,
    doubleQuotedMinMultiLineLength: Infinity,
  })
}
