import { useEffect, useRef, useState } from 'preact/hooks';
import type { ServerStats } from '../../../lib/mcp/tool-server.ts';
import { CallFailure } from '../admin-api.ts';
import { Card } from '../ui/parts.tsx';
import { type Bearer, bearerHeader } from '../use-bearer.ts';
import { BearerField, FailureNote } from './bearer-field.tsx';
import { SchemaFields } from './schema-fields.tsx';
import { argumentsOf, fieldsOf } from './schema-form.ts';
import { ToolAnswer } from './tool-answer.tsx';
import { invokeTool, type ListedTool, listTools, type ToolResult } from './tool-calls.ts';

interface ToolPlaygroundProps {
  hub: string;
  bearer: Bearer;
  servers: readonly ServerStats[];
  /** Server that the operator has just asked to try. */
  wanted: string | undefined;
  onUsed(): void;
}

/** Runs a tool as any client would. Listing connects a server that was never used, so it waits to be asked for. */
export function ToolPlayground({ hub, bearer, servers, wanted, onUsed }: ToolPlaygroundProps) {
  const place = useRef<HTMLDivElement>(null);
  const [server, setServer] = useState(wanted ?? servers[0]?.name ?? '');
  const [tools, setTools] = useState<ListedTool[]>();
  const [tool, setTool] = useState<ListedTool>();
  const [inputs, setInputs] = useState<Record<string, string>>({});
  const [result, setResult] = useState<{ answer: ToolResult; ms: number }>();
  const [failure, setFailure] = useState<CallFailure>();
  const [running, setRunning] = useState<{ control: AbortController; what: string }>();

  // Asked for by the operator, not by each render.
  useEffect(() => {
    if (wanted === undefined) return;
    choose(wanted);
    void load(wanted);
    place.current?.scrollIntoView({ block: 'start' });
  }, [wanted]);

  function choose(name: string): void {
    setServer(name);
    setTools(undefined);
    setTool(undefined);
    setResult(undefined);
    setFailure(undefined);
  }

  async function run(
    what: string,
    work: (call: Parameters<typeof listTools>[0]) => Promise<void>,
  ): Promise<void> {
    const control = new AbortController();
    setRunning({ control, what });
    setFailure(undefined);
    try {
      await work({ hub, headers: bearerHeader(bearer), signal: control.signal });
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      if (!control.signal.aborted)
        setFailure(error instanceof CallFailure ? error : new CallFailure(0, words));
    }
    setRunning(undefined);
    onUsed();
  }

  const load = (name: string) =>
    run('Listing tools…', async (call) => {
      const listed = await listTools(call, name);
      setTools(listed);
      pick(listed[0]);
    });

  function pick(next: ListedTool | undefined): void {
    setTool(next);
    setInputs({});
    setResult(undefined);
  }

  const fields = fieldsOf(tool?.inputSchema);
  function invoke(event: Event): void {
    event.preventDefault();
    if (tool === undefined) return;
    setResult(undefined);
    void run('Running…', async (call) => {
      const args = fields === undefined ? JSON.parse(inputs[''] || '{}') : argumentsOf(fields, inputs);
      const startedAt = performance.now();
      const answer = await invokeTool(call, tool.server, tool.name, args);
      setResult({ answer, ms: performance.now() - startedAt });
    });
  }

  const fill = (name: string, text: string) => setInputs((before) => ({ ...before, [name]: text }));
  return (
    <div ref={place}>
      <Card title="Try it" aside={<span class="quiet">POST /mcp/invoke</span>}>
        <div class="columns play">
          <form class="stack tight" onSubmit={invoke}>
            <label class="field">
              <span>Server</span>
              <select value={server} onChange={(event) => choose(event.currentTarget.value)}>
                {servers.map(({ name }) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
            <BearerField bearer={bearer} />
            {tools !== undefined && tools.length > 0 && (
              <label class="field">
                <span>Tool</span>
                <select
                  value={tool?.name}
                  onChange={(event) => pick(tools.find(({ name }) => name === event.currentTarget.value))}
                >
                  {tools.map(({ name }) => (
                    <option key={name} value={name}>
                      {name}
                    </option>
                  ))}
                </select>
              </label>
            )}
            {tools?.length === 0 && <p class="quiet">This server offers no tools now.</p>}
            {tool?.description !== undefined && <p class="quiet small">{tool.description}</p>}
            {tool !== undefined && fields !== undefined && (
              <SchemaFields fields={fields} inputs={inputs} onInput={fill} />
            )}
            {tool !== undefined && fields === undefined && (
              <label class="field">
                <span>Arguments</span>
                <textarea
                  rows={5}
                  class="mono"
                  value={inputs[''] ?? '{}'}
                  onInput={(event) => fill('', event.currentTarget.value)}
                />
              </label>
            )}
            <div class="row end">
              {running !== undefined && (
                <button type="button" class="button" onClick={() => running.control.abort()}>
                  Stop
                </button>
              )}
              {tools === undefined ? (
                <button
                  type="button"
                  class="button primary"
                  disabled={running !== undefined}
                  onClick={() => void load(server)}
                >
                  List tools
                </button>
              ) : (
                <button
                  type="submit"
                  class="button primary"
                  disabled={tool === undefined || running !== undefined}
                >
                  Run
                </button>
              )}
            </div>
          </form>
          <div class="stack tight answer">
            <ToolAnswer result={result} waiting={running?.what} />
            <FailureNote failure={failure} />
          </div>
        </div>
      </Card>
    </div>
  );
}
