import { HubError } from '../../errors/hub-error.ts';
import { isObject, type JsonObject } from '../json.ts';

export interface ToolDeclaration {
  name: string;
  description: string | undefined;
  /** JSON Schema of the arguments; an empty object where the caller gave none. */
  parameters: JsonObject;
}

export interface Tools {
  declarations: ToolDeclaration[];
  choice: 'auto' | 'none' | 'required' | { name: string };
  /** Whether several calls in one turn are welcome. */
  isParallel: boolean;
}

/** Reads `tools`, `tool_choice` and `parallel_tool_calls`; undefined when the body declares no tool. */
export function readTools(document: JsonObject): Tools | undefined {
  const { tools } = document;
  if (tools === undefined || tools === null) return undefined;
  if (!Array.isArray(tools)) throw refusal('tools', 'must be a list');
  if (tools.length === 0) return undefined;
  return {
    declarations: tools.map(readDeclaration),
    choice: readChoice(document.tool_choice),
    isParallel: document.parallel_tool_calls !== false,
  };
}

function readDeclaration(tool: unknown, index: number): ToolDeclaration {
  const declared = isObject(tool) && tool.type === 'function' ? tool.function : undefined;
  if (!isObject(declared) || typeof declared.name !== 'string') {
    throw refusal(`tools[${index}]`, 'must be a function with a name');
  }
  return {
    name: declared.name,
    description: typeof declared.description === 'string' ? declared.description : undefined,
    parameters: isObject(declared.parameters) ? declared.parameters : { type: 'object', properties: {} },
  };
}

function readChoice(choice: unknown): Tools['choice'] {
  if (choice === undefined || choice === null) return 'auto';
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  const name = isObject(choice) && isObject(choice.function) ? choice.function.name : undefined;
  if (typeof name !== 'string') throw refusal('tool_choice', 'must be auto, none, required or a function');
  return { name };
}

function refusal(param: string, what: string): HubError {
  return new HubError('invalid_request', `\`${param}\` ${what}`, { param });
}
