import type { Field } from './schema-form.ts';

interface SchemaFieldsProps {
  fields: readonly Field[];
  inputs: Readonly<Record<string, string>>;
  onInput(name: string, text: string): void;
}

/** Inputs for the arguments of a tool. */
export function SchemaFields({ fields, inputs, onInput }: SchemaFieldsProps) {
  if (fields.length === 0) return <p class="quiet">This tool takes no arguments.</p>;
  return (
    <>
      {fields.map((field) => (
        // biome-ignore lint/a11y/noLabelWithoutControl: FieldInput is the control
        <label class="field" key={field.name}>
          <span>
            {field.label} {field.isRequired ? <span class="quiet">(required)</span> : null}
          </span>
          <FieldInput
            field={field}
            text={inputs[field.name] ?? field.initial}
            onInput={(text) => onInput(field.name, text)}
          />
          {field.description !== undefined && <small class="quiet">{field.description}</small>}
        </label>
      ))}
    </>
  );
}

function FieldInput({ field, text, onInput }: { field: Field; text: string; onInput(text: string): void }) {
  const { kind, isRequired, choices } = field;
  switch (kind) {
    case 'choice':
    case 'flag':
      return (
        <select value={text} required={isRequired} onChange={(event) => onInput(event.currentTarget.value)}>
          <option value="">{isRequired ? 'Choose…' : 'not given'}</option>
          {(kind === 'flag' ? ['true', 'false'] : choices).map((choice) => (
            <option key={choice} value={choice}>
              {choice.replace(/^"(.*)"$/, '$1')}
            </option>
          ))}
        </select>
      );
    case 'number':
      return (
        <input
          type="number"
          step="any"
          required={isRequired}
          value={text}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      );
    case 'json':
      return (
        <textarea
          rows={3}
          class="mono"
          placeholder="JSON"
          required={isRequired}
          value={text}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      );
    default:
      return <input value={text} onInput={(event) => onInput(event.currentTarget.value)} />;
  }
}
