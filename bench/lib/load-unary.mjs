/** Closed-loop load: each connection sends its next request when the answer to the last one is complete. */
import { openConnection, postBytes } from './connection.mjs';
import { processorSeconds } from './proc.mjs';
import { distribution } from './stats.mjs';

/** How long past the end of the measurement an answer may take, in ms: no run waits for ever. */
const PATIENCE_MS = 10_000;

/**
 * @param {{address: {host: string, port: number}, path: string, headers: Record<string, string>, body: string | string[],
 *   connections: number, seconds: number, maxRequests: number, marker: string, pids: number[]}} job
 * `body` may be a list of bodies, for the connections in turn; `marker` is a text that a whole answer contains; `pids` are the processes whose processor time is charged.
 * @returns counts, requests a second, latency in ms, processor µs a request
 */
export async function unaryLoad(job) {
  const requests = [job.body].flat().map((body) => postBytes(job.path, job.headers, body));
  const marker = Buffer.from(job.marker);
  const latencies = [];
  let failed = 0;
  let firstFailure;
  const processorBefore = processorSeconds(job.pids);
  const startedAt = performance.now();
  const deadline = startedAt + job.seconds * 1000;

  const runOne = (index) =>
    new Promise((resolve) => {
      const request = requests[index % requests.length];
      let sentAt = 0;
      let parts = [];
      const more = () => performance.now() < deadline && latencies.length + failed < job.maxRequests;
      const noteFailure = (why) => {
        failed++;
        firstFailure ??= why;
      };
      const events = {
        onBody: (part) => parts.push(part),
        onEnd(status, reusable) {
          latencies.push(performance.now() - sentAt);
          const body = parts.length === 1 ? parts[0] : Buffer.concat(parts);
          if (status !== 200 || !body.includes(marker)) {
            latencies.pop();
            noteFailure(`status ${status}: ${body.toString('utf8', 0, 200)}`);
          }
          if (!reusable) {
            connection.close();
            connection = openConnection(job.address, events);
          }
          next();
        },
        onFail(error) {
          noteFailure(error.message);
          connection = openConnection(job.address, events);
          // A dead server must not be knocked on in a tight loop.
          setTimeout(next, 20);
        },
      };
      let connection = openConnection(job.address, events);
      const giveUp = setTimeout(
        () => {
          noteFailure('stalled');
          finish();
        },
        deadline + PATIENCE_MS - performance.now(),
      );
      function finish() {
        clearTimeout(giveUp);
        connection.close();
        resolve();
      }
      function next() {
        if (!more()) return finish();
        parts = [];
        sentAt = performance.now();
        connection.send(request);
      }
      next();
    });

  await Promise.all(Array.from({ length: job.connections }, (_, index) => runOne(index)));
  const seconds = (performance.now() - startedAt) / 1000;
  const processor = processorSeconds(job.pids) - processorBefore;
  return {
    requests: latencies.length,
    failed,
    firstFailure,
    requestsPerSecond: latencies.length / seconds,
    latencyMs: distribution(latencies),
    processorMicros: (processor * 1e6) / latencies.length,
  };
}
