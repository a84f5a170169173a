import { expect, test } from '@jest/globals';
import { createGate } from '../../../lib/mcp/gate.ts';
import { createCallQueue } from '../../../lib/mcp/queue.ts';

const patient = () => new AbortController().signal;

test('places go to those who wait, in their order', async () => {
  const queue = createCallQueue({ maxConcurrency: 1, maxQueue: 2 });
  expect(queue.enter(patient(), 1000)).toBeUndefined();
  const order: string[] = [];
  const first = queue.enter(patient(), 1000)?.then(() => order.push('first'));
  const second = queue.enter(patient(), 1000)?.then(() => order.push('second'));
  expect([queue.inFlight(), queue.queued()]).toEqual([1, 2]);
  expect(() => queue.enter(patient(), 1000)).toThrow('Too many calls wait');
  queue.leave();
  await first;
  expect([queue.inFlight(), queue.queued()]).toEqual([1, 1]);
  queue.leave();
  await second;
  queue.leave();
  expect([order, queue.inFlight()]).toEqual([['first', 'second'], 0]);
});

test('who leaves or waits too long steps out, and nobody gets a place twice', async () => {
  const queue = createCallQueue({ maxConcurrency: 1, maxQueue: 3 });
  void queue.enter(patient(), 1000);
  const leaving = new AbortController();
  const left = queue.enter(leaving.signal, 1000);
  const late = queue.enter(patient(), 10);
  const served = queue.enter(patient(), 1000);
  leaving.abort();
  await expect(left).rejects.toMatchObject({ kind: 'cancelled' });
  await expect(late).rejects.toMatchObject({ kind: 'timeout' });
  expect(queue.queued()).toBe(1);
  queue.leave();
  await served;
  expect(queue.inFlight()).toBe(1);
  await expect(queue.enter(AbortSignal.abort(), 1000)).rejects.toMatchObject({ kind: 'cancelled' });
});

test('a gate lets so many in at once, and a double release frees no second place', async () => {
  const gate = createGate(2);
  const [first] = [await gate(), await gate()];
  let entered = false;
  const third = gate().then((release) => {
    entered = true;
    return release;
  });
  await Promise.resolve();
  expect(entered).toBe(false);
  first();
  first();
  await third;
  let fourth = false;
  void gate().then(() => {
    fourth = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(fourth).toBe(false);
});
