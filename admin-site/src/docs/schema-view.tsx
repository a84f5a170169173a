import { useState } from 'preact/hooks';
import { type OpenApi, resolve, type Schema } from './document.ts';
import { Words } from './words.tsx';

interface SchemaViewProps {
  document: OpenApi;
  schema: Schema;
}

/** A schema as a tree; what lies deeper opens on demand, so that references in circles do no harm. */
export function SchemaView({ document, schema }: SchemaViewProps) {
  const { schema: resolved, name } = resolve(document, schema);
  return (
    <div class="schema">
      <p class="quiet small">
        <code>{name ?? typeOf(document, resolved)}</code>
        {resolved.description !== undefined && (
          <>
            {' – '}
            <Words text={resolved.description} />
          </>
        )}
      </p>
      <Members document={document} schema={resolved} />
    </div>
  );
}

/** The members of an object, or of the items of a list. */
function Members({ document, schema }: SchemaViewProps) {
  const inner = innerOf(document, schema);
  const properties = Object.entries(inner.properties ?? {});
  if (properties.length === 0) return null;
  return (
    <ul>
      {properties.map(([name, property]) => (
        <Member
          key={name}
          document={document}
          name={name}
          schema={property}
          isRequired={inner.required?.includes(name) ?? false}
        />
      ))}
    </ul>
  );
}

function Member({
  document,
  name,
  schema,
  isRequired,
}: SchemaViewProps & { name: string; isRequired: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const { schema: resolved } = resolve(document, schema);
  const hasMembers = Object.keys(innerOf(document, resolved).properties ?? {}).length > 0;
  const head = (
    <>
      <code class="schema-name">{name}</code>
      {isRequired && <span class="required">required</span>}
      <span class="quiet">{typeOf(document, schema)}</span>
      {resolved.default !== undefined && (
        <span class="quiet">default {JSON.stringify(resolved.default)}</span>
      )}
      {resolved.description !== undefined && (
        <span class="schema-words">
          <Words text={resolved.description} />
        </span>
      )}
    </>
  );
  if (!hasMembers) return <li class="schema-row">{head}</li>;
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary class="schema-row">{head}</summary>
        {isOpen && <Members document={document} schema={resolved} />}
      </details>
    </li>
  );
}

/** What has the members: a list's item, the object in `object or null`. */
function innerOf(document: OpenApi, schema: Schema): Schema {
  const { schema: resolved } = resolve(document, schema);
  if (resolved.items !== undefined) return innerOf(document, resolved.items);
  const variant = resolved.anyOf?.find((one) => resolve(document, one).schema.type !== 'null');
  return variant === undefined ? resolved : innerOf(document, variant);
}

/** A type in words. */
function typeOf(document: OpenApi, schema: Schema): string {
  if (schema.$ref !== undefined) return resolve(document, schema).name ?? '';
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(String).join(' | ');
  if (schema.anyOf !== undefined) return schema.anyOf.map((one) => typeOf(document, one)).join(' or ');
  if (schema.items !== undefined) return `list of ${typeOf(document, schema.items)}`;
  if (Array.isArray(schema.type)) return schema.type.join(' or ');
  if (schema.format !== undefined) return `${schema.type}, ${schema.format}`;
  return schema.type ?? 'anything';
}
