/** Streaming load: a number of event streams held open at the same time, every frame counted and timed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection, postBytes } from './connection.mjs';
import { processorSeconds } from './proc.mjs';
import { distribution } from './stats.mjs';

/** CLOCK_MONOTONIC in ms: the same clock in every process of the machine. */
function monotonicMs() {
  const [seconds, nanos] = process.hrtime();
  return seconds * 1000 + nanos / 1e6;
}

/**
 * Reads the frames of one stream. The provider numbers its frames and stamps them with the time of sending, as
 * `"content":"<number>@<ms>"`, so that a lost, repeated or late one is seen.
 */
function createFrameReader(onFrame) {
  let text = '';
  const reader = { frames: 0, outOfOrder: 0, done: false };
  reader.read = (part) => {
    text += part.latin1Slice();
    let from = 0;
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n', from)) {
      const frame = text.slice(from, end);
      from = end + 2;
      if (frame === 'data: [DONE]') reader.done = true;
      const at = frame.indexOf('"content":"');
      if (at === -1) continue;
      const [number, sentAt] = frame.slice(at + 11, frame.indexOf('"', at + 11)).split('@');
      if (Number(number) !== reader.frames) reader.outOfOrder++;
      reader.frames++;
      onFrame(Number(sentAt));
    }
    text = text.slice(from);
  };
  return reader;
}

/**
 * Holds `streams` streams open for `seconds`: each connection opens its next stream when its last one is complete.
 * Their starts are spread evenly over the length of a stream, or all fall together when `burst` is set. Streams that
 * run at the deadline are read to their end.
 * @param {{address: {host: string, port: number}, path: string, headers: Record<string, string>, body: string,
 *   streams: number, seconds: number, frames: number, streamMs: number, burst?: boolean, pids: number[]}} job
 * @returns counts of streams and frames, first chunk and frame delay in ms, processor µs a frame
 */
export async function streamLoad(job) {
  const request = postBytes(job.path, job.headers, job.body);
  const firstChunk = [];
  const frameDelay = [];
  const total = { started: 0, completed: 0, frames: 0, firstFailure: undefined };
  const processorBefore = processorSeconds(job.pids);
  const startedAt = performance.now();
  const deadline = startedAt + job.seconds * 1000;

  /** One stream; true when its connection can carry the next. */
  function runStream(line) {
    return new Promise((resolve) => {
      let now = 0;
      const openedAt = monotonicMs();
      const reader = createFrameReader((sentAt) => {
        if (reader.frames === 1) firstChunk.push(now - openedAt);
        frameDelay.push(now - sentAt);
      });
      const giveUp = setTimeout(() => end(false, 'stalled'), job.streamMs * 5 + 10_000);
      function end(reusable, failure) {
        clearTimeout(giveUp);
        const whole = reader.done && reader.frames === job.frames && reader.outOfOrder === 0;
        if (whole) total.completed++;
        else
          total.firstFailure ??= failure ?? `${reader.frames} of ${job.frames} frames, done=${reader.done}`;
        total.frames += reader.frames;
        resolve(reusable);
      }
      line.onBody = (part) => {
        now = monotonicMs();
        reader.read(part);
      };
      line.onEnd = (status, reusable) => end(reusable, status === 200 ? undefined : `status ${status}`);
      line.onFail = (error) => end(false, error.message);
      total.started++;
      line.connection.send(request);
    });
  }

  async function runLine(index) {
    const line = { onBody() {}, onEnd() {}, onFail() {} };
    const open = () =>
      openConnection(job.address, {
        onBody: (part) => line.onBody(part),
        onEnd: (status, reusable) => line.onEnd(status, reusable),
        onFail: (error) => line.onFail(error),
      });
    if (!job.burst) await sleep((index * job.streamMs) / job.streams);
    line.connection = open();
    do {
      const reusable = await runStream(line);
      if (!reusable) {
        line.connection.close();
        await sleep(20);
        line.connection = open();
      }
    } while (!job.burst && performance.now() < deadline);
    line.connection.close();
  }

  await Promise.all(Array.from({ length: job.streams }, (_, index) => runLine(index)));
  const processor = processorSeconds(job.pids) - processorBefore;
  return {
    streams: total.started,
    streamsLost: total.started - total.completed,
    frames: total.frames,
    framesLost: total.started * job.frames - total.frames,
    firstFailure: total.firstFailure,
    firstChunkMs: distribution(firstChunk),
    frameDelayMs: distribution(frameDelay),
    processorMicros: (processor * 1e6) / total.frames,
  };
}
