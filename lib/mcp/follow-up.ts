/**
 * Makes runs of `work` follow one another: asked for while it runs, it runs once more afterwards, because what
 * was asked for may not be in what was read. `work` must not reject.
 */
export function createFollowUp(work: () => Promise<void>): () => void {
  let state: 'idle' | 'running' | 'again' = 'idle';

  async function run(): Promise<void> {
    do {
      state = 'running';
      await work();
    } while (isAskedAgain());
    state = 'idle';
  }

  function isAskedAgain(): boolean {
    return state === 'again';
  }

  return () => {
    if (state === 'idle') void run();
    else state = 'again';
  };
}
