import { Form } from '../../design/form.tsx'
import { type FormField, readFields } from './schema-fields.ts'

/** The form that a JSON Schema of an answer asks for. */
export function SchemaForm({ fields, id, onSend }: { fields: FormField[]; id: string; onSend: (answer: unknown) => void }) {
  return (
    <Form submit="Answer" onSubmit={(form) => onSend(readFields(fields, new FormData(form)))}>
      {fields.map((field) => (
        <div key={field.key} className="field">
          <label htmlFor={`${id}-${field.key}`}>{field.label}</label>
          <FieldInput field={field} id={`${id}-${field.key}`} />
          {field.description !== undefined && <p className="hint">{field.description}</p>}
        </div>
      ))}
    </Form>
  )
}

function FieldInput({ field, id }: { field: FormField; id: string }) {
  const shared = { id, name: field.key, required: field.isRequired, className: 'input' }
  if (field.choices !== undefined) {
    return (
      <select {...shared} defaultValue={field.initial ?? ''}>
        {!field.isRequired && <option value="" />}
        {field.choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    )
  }
  if (field.type === 'boolean') return <input id={id} name={field.key} type="checkbox" defaultChecked={field.initial === 'true'} />
  if (field.type === 'string') return <input {...shared} type="text" defaultValue={field.initial} minLength={field.min} maxLength={field.max} />
  return <input {...shared} type="number" step={field.type === 'integer' ? 1 : 'any'} min={field.min} max={field.max} defaultValue={field.initial} />
}
