/** What became of one scalar of the file. */
export interface Substitution {
  /** The text with every reference replaced; undefined when a fault left a hole. */
  text: string | undefined;
  /** What is wrong, worded to follow the path of the scalar. */
  faults: string[];
  /** Names of the variables whose values went into the text. */
  variables: string[];
}

const REFERENCE = /^([A-Za-z_]\w*)(.*)$/s;

/** Variables that `npm run setup` writes; a missing one gets a hint. */
const WRITTEN_BY_SETUP = ['ADMIN_API_KEY', 'SESSION_SECRET'];

/**
 * Replaces `${VAR}` and `${VAR-default}` in one parsed scalar (contract §2). A default ends at the first `}` and
 * stands in only for a variable that is not set; `$${` is a literal `${`. Texts without `${` come back as they are.
 */
export function substitute(source: string, env: Readonly<Record<string, string | undefined>>): Substitution {
  const faults: string[] = [];
  const variables: string[] = [];
  let text = '';
  let rest = source;

  for (;;) {
    const start = rest.indexOf('${');
    if (start === -1) break;
    if (rest[start - 1] === '$') {
      text += `${rest.slice(0, start - 1)}\${`;
      rest = rest.slice(start + 2);
      continue;
    }
    text += rest.slice(0, start);
    const end = rest.indexOf('}', start);
    if (end === -1) {
      faults.push(`has a \${ without its } (write $\${ for a literal \${)`);
      rest = '';
      break;
    }
    const reference = rest.slice(start + 2, end);
    if (reference.includes('${')) {
      faults.push('nests one ${ in another, which is not supported; use one variable with one plain default');
      // What follows belongs to the broken reference: judging it would only add noise.
      rest = '';
      break;
    }
    rest = rest.slice(end + 1);
    const result = resolve(reference, env);
    if ('fault' in result) faults.push(result.fault);
    else text += result.value;
    if ('variable' in result && result.variable !== undefined) variables.push(result.variable);
  }
  return { text: faults.length === 0 ? text + rest : undefined, faults, variables };
}

function resolve(
  reference: string,
  env: Readonly<Record<string, string | undefined>>,
): { fault: string } | { value: string; variable: string | undefined } {
  const match = REFERENCE.exec(reference);
  const name = match?.[1];
  const tail = match?.[2] ?? '';
  if (name === undefined) {
    return { fault: 'has a ${ that no variable name follows (a letter or _, then letters, digits and _)' };
  }
  if (tail.startsWith(':')) {
    return { fault: `uses \${${name}:…}, which is not supported; write \${${name}-default}` };
  }
  if (tail !== '' && !tail.startsWith('-')) {
    return {
      fault: `has a reference to ${name} that is malformed; write \${${name}} or \${${name}-default}`,
    };
  }
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value !== undefined) return { value, variable: name };
  if (tail !== '') return { value: tail.slice(1), variable: undefined };
  const hint = WRITTEN_BY_SETUP.includes(name) ? '; `npm run setup` writes it into .env' : '';
  return { fault: `needs the environment variable ${name}, which is not set${hint}` };
}
