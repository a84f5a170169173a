import { useEffect, useRef, useState } from 'preact/hooks';
import { CallFailure, type TargetItem } from '../admin-api.ts';
import { count, DASH, ms } from '../format.ts';
import { Card, Facts } from '../ui/parts.tsx';
import { Notice } from '../ui/states.tsx';
import { type Bearer, bearerHeader } from '../use-bearer.ts';
import { askChat, type ChatAnswer } from './ask-chat.ts';
import { BearerField, FailureNote } from './bearer-field.tsx';

interface ChatPlaygroundProps {
  hub: string;
  targets: readonly TargetItem[];
  bearer: Bearer;
  /** After a call, so that the numbers follow. */
  onUsed(): void;
}

/** Asks a target as any client would, and shows answer, tokens and times. */
export function ChatPlayground({ hub, targets, bearer, onUsed }: ChatPlaygroundProps) {
  const [target, setTarget] = useState(targets[0]?.id ?? '');
  const [system, setSystem] = useState('');
  const [message, setMessage] = useState('Say hello in one sentence.');
  const [stream, setStream] = useState(true);
  const [answer, setAnswer] = useState<ChatAnswer>();
  const [failure, setFailure] = useState<CallFailure>();
  const [running, setRunning] = useState<AbortController>();
  const last = useRef<AbortController>(undefined);
  useEffect(() => () => last.current?.abort(), []);

  if (targets.length === 0) {
    return (
      <Card title="Try it">
        <Notice title="No AI targets are configured">Add one under targets in config.yaml.</Notice>
      </Card>
    );
  }

  async function ask(event: Event): Promise<void> {
    event.preventDefault();
    const control = new AbortController();
    last.current = control;
    setRunning(control);
    setAnswer(undefined);
    setFailure(undefined);
    const question = {
      hub,
      target,
      system,
      message,
      stream,
      headers: bearerHeader(bearer),
      signal: control.signal,
    };
    try {
      await askChat(question, setAnswer);
    } catch (error) {
      if (!control.signal.aborted) {
        setFailure(error instanceof CallFailure ? error : new CallFailure(0, String(error)));
      }
    }
    setRunning(undefined);
    onUsed();
  }

  return (
    <Card title="Try it" aside={<span class="quiet">POST /v1/chat/completions</span>}>
      <div class="columns play">
        <form class="stack tight" onSubmit={ask}>
          <label class="field">
            <span>Target</span>
            <select value={target} onChange={(event) => setTarget(event.currentTarget.value)}>
              {targets.map(({ id, provider, model }) => (
                <option key={id} value={id}>
                  {id} ({model === null ? provider : `${provider}, ${model}`})
                </option>
              ))}
            </select>
          </label>
          <label class="field">
            <span>
              System <span class="quiet">(optional)</span>
            </span>
            <input value={system} onInput={(event) => setSystem(event.currentTarget.value)} />
          </label>
          <label class="field">
            <span>Message</span>
            <textarea
              rows={4}
              value={message}
              required
              onInput={(event) => setMessage(event.currentTarget.value)}
            />
          </label>
          <BearerField bearer={bearer} />
          <div class="row spread">
            <label class="check">
              <input
                type="checkbox"
                checked={stream}
                onChange={(event) => setStream(event.currentTarget.checked)}
              />
              <span>Stream</span>
            </label>
            {running === undefined ? (
              <button type="submit" class="button primary">
                Send
              </button>
            ) : (
              <button type="button" class="button" onClick={() => running.abort()}>
                Stop
              </button>
            )}
          </div>
        </form>
        <div class="stack tight answer">
          <div
            class="answer-text"
            aria-live="polite"
            aria-busy={running !== undefined}
            data-testid="chat-answer"
          >
            {answer?.reasoning && <p class="quiet">{answer.reasoning}</p>}
            {answer?.text ?? (
              <span class="quiet">
                {running ? 'Waiting for the first token…' : 'The answer appears here.'}
              </span>
            )}
            {running !== undefined && <span class="caret" aria-hidden="true" />}
          </div>
          <FailureNote failure={failure} />
          <AnswerFacts answer={answer} />
        </div>
      </div>
    </Card>
  );
}

function AnswerFacts({ answer }: { answer: ChatAnswer | undefined }) {
  const tokens = (number: number | undefined) => (number === undefined ? DASH : count(number));
  const speed =
    answer?.totalMs && answer.completionTokens
      ? `${count(answer.completionTokens / (answer.totalMs / 1000))} tokens a second`
      : DASH;
  return (
    <Facts
      rows={[
        ['First token', ms(answer?.firstTokenMs ?? null)],
        ['Total', ms(answer?.totalMs ?? null)],
        ['Prompt tokens', tokens(answer?.promptTokens)],
        ['Completion tokens', tokens(answer?.completionTokens)],
        ['Speed', speed],
        ['Finish reason', answer?.finishReason ?? DASH],
        ['Model', answer?.model ?? DASH],
        ['Answered by', answer?.target ?? DASH],
        ['Request id', <code class="long">{answer?.requestId ?? DASH}</code>],
      ]}
    />
  );
}
