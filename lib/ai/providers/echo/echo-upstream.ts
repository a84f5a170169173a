import type { Upstream } from '../../upstream/upstream.ts';
import type { EchoCall } from './reply.ts';
import { wholeAnswer } from './response.ts';
import { streamEvents } from './stream.ts';

/** Answers calls in this process, one event of a stream at a turn of the event loop, with backpressure. */
export function createEchoUpstream(): Upstream {
  return {
    send(call, handler) {
      // Only echo's own `request.ts` makes calls for this upstream.
      const { reply } = call as EchoCall;
      const events = reply.stream ? streamEvents(reply) : [wholeAnswer(reply)].values();
      let isPaused = false;
      let isOver = false;
      let hasBegun = false;
      let timer: NodeJS.Timeout | undefined;
      let turn: NodeJS.Immediate | undefined;

      function schedule(): void {
        if (reply.delayMs > 0) timer = setTimeout(step, reply.delayMs);
        else turn = setImmediate(step);
      }

      function step(): void {
        if (isOver || isPaused) return;
        if (!hasBegun) {
          hasBegun = true;
          handler.onHead(200, {});
        }
        const event = events.next();
        if (event.done !== true) {
          handler.onData(Buffer.from(event.value));
          if (!isOver && !isPaused) schedule();
          return;
        }
        isOver = true;
        handler.onEnd();
      }

      schedule();
      return {
        abort() {
          isOver = true;
          clearTimeout(timer);
          clearImmediate(turn);
        },
        pause() {
          isPaused = true;
        },
        resume() {
          if (!isPaused) return;
          isPaused = false;
          schedule();
        },
      };
    },
    async close() {},
  };
}
