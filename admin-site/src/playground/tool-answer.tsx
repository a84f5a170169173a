import { ms } from '../format.ts';
import { JsonTree } from '../ui/json-tree.tsx';
import { Badge } from '../ui/parts.tsx';
import type { ToolResult } from './tool-calls.ts';

interface ToolAnswerProps {
  result: { answer: ToolResult; ms: number } | undefined;
  /** What is waited for, if anything. */
  waiting: string | undefined;
}

export function ToolAnswer({ result, waiting }: ToolAnswerProps) {
  if (result === undefined) {
    return (
      <div class="answer-text quiet" aria-live="polite" data-testid="tool-answer">
        {waiting ?? 'The result appears here.'}
      </div>
    );
  }
  const { content, structuredContent, isError } = result.answer;
  return (
    <div class="stack tight">
      <div class="row tight" aria-live="polite">
        <Badge tone={isError ? 'bad' : 'good'}>{isError ? 'error' : 'ok'}</Badge>
        <span class="numbers quiet">{ms(result.ms)}</span>
      </div>
      <div class="answer-text" data-testid="tool-answer">
        {content.map((part, index) => (
          <Part key={index} part={part} />
        ))}
        {content.length === 0 && <span class="quiet">The tool answered without content.</span>}
      </div>
      {structuredContent !== undefined && (
        <JsonTree value={structuredContent} name="structuredContent" openTo={2} />
      )}
    </div>
  );
}

/** Kinds that a browser shows without running anything of theirs: no SVG. */
const IMAGE = /^image\/(png|jpeg|gif|webp)$/;
const BASE64 = /^[A-Za-z0-9+/=\s]*$/;

function Part({ part }: { part: Record<string, unknown> }) {
  const { type, text, data, mimeType } = part;
  if (type === 'text' && typeof text === 'string') return <pre class="answer-part">{text}</pre>;
  const isShown =
    typeof mimeType === 'string' && IMAGE.test(mimeType) && typeof data === 'string' && BASE64.test(data);
  if (type === 'image' && isShown)
    return <img class="answer-image" src={`data:${mimeType};base64,${data}`} alt="From the tool" />;
  return <JsonTree value={part} name={String(type)} openTo={1} />;
}
