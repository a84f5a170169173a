import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { ADMIN_KEY } from '../helpers/hub-process.ts';
import { panelForTests } from '../helpers/panel-page.ts';
import { startHub } from '../helpers/start-hub.ts';
import { until } from '../helpers/until.ts';

const panels = panelForTests();
const { open } = panels;

const signedIn = async () => {
  const panel = await open();
  await panel.enter();
  return panel;
};
/** Everything that the page keeps in the browser. */
const kept = (page: Page) =>
  page.evaluate<string>('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])');
/** Scripts for the page; this file knows no browser. */
const GROUND = 'getComputedStyle(document.body).backgroundColor';
const PLACES = `JSON.stringify(
  [...document.querySelectorAll('.card, .tab, .toolbar button')].map((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x, y, width, height];
  }),
)`;

/** Keys of the calls that the page makes from now on. */
function watchKeys(page: Page): string[] {
  const keys: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/admin/') && !request.url().endsWith('/panel')) {
      keys.push(request.headers()['x-admin-key'] ?? 'none');
    }
  });
  return keys;
}

describe('the key', () => {
  test('is asked for in the browser and goes with every later call [S4.5-panel-key]', async () => {
    const { page, enter, tab } = await open();
    const keys = watchKeys(page);
    expect(await page.getByLabel('Admin key').getAttribute('type')).toBe('password');
    await enter();
    await tab('config');
    await page.getByRole('button', { name: 'Refresh now' }).click();
    await until('four calls', () => keys.length >= 4, { timeoutMs: 20_000 });
    expect(new Set(keys)).toEqual(new Set([ADMIN_KEY]));
  });

  test('survives a reload, and is forgotten by signing out [S4.5-panel-logout]', async () => {
    const { page } = await signedIn();
    await page.reload();
    await page.getByTestId('requests').waitFor();
    expect(await kept(page)).toContain(ADMIN_KEY);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Admin key').waitFor();
    expect(await kept(page)).not.toContain(ADMIN_KEY);
    await page.reload();
    await page.getByLabel('Admin key').waitFor();
  });

  test('stays in its tab, unless the operator wants it on the device [S4.5-panel-key]', async () => {
    const { page, context, enter } = await signedIn();
    const other = await context.newPage();
    await other.goto(page.url());
    await other.getByLabel('Admin key').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Stay signed in on this device').check();
    await enter();
    await other.reload();
    await other.getByTestId('requests').waitFor();
  });

  test('that is wrong is said to be so, and is not kept', async () => {
    const { page, signIn, enter } = await open();
    await signIn(`${ADMIN_KEY}-wrong`);
    await page.getByText('The hub does not accept this key.').waitFor();
    expect(await kept(page)).not.toContain('-wrong');
    await enter();
  });

  test('that is not accepted any more leads back to the sign-in', async () => {
    const { page } = await signedIn();
    await page.route('**/admin/runtime', (route) =>
      route.fulfill({ status: 401, json: { error: { message: 'no', code: 'admin_unauthorized' } } }),
    );
    await page.getByRole('button', { name: 'Refresh now' }).click();
    await page.getByText('The hub does not accept this key.').waitFor();
    expect(await kept(page)).not.toContain(ADMIN_KEY);
  });

  test('is refused where admin access is off, and the page says so', async () => {
    const closed = await startHub({ config: { targets: [] } });
    const { page, signIn } = await open({ url: closed.url });
    await signIn();
    await page.getByText(/Admin access is not configured/).waitFor();
    await closed.stop('SIGKILL');
  });
});

describe('the theme', () => {
  const themeOf = (page: Page) => page.evaluate<string>('document.documentElement.dataset.theme');

  test('is the system’s until one is chosen, which local storage keeps [S4.5-panel-theme]', async () => {
    const { page } = await open({ colorScheme: 'dark' });
    expect(await themeOf(page)).toBe('dark');
    await page.emulateMedia({ colorScheme: 'light' });
    await until('the system’s theme', async () => (await themeOf(page)) === 'light');
    const light = await page.evaluate<string>(GROUND);
    await page.getByRole('button', { name: 'Use the dark theme' }).click();
    expect(await themeOf(page)).toBe('dark');
    expect(await page.evaluate<string>(GROUND)).not.toBe(light);
    await page.reload();
    expect(await themeOf(page)).toBe('dark');
    expect(await page.evaluate<string[]>('Object.values({ ...localStorage })')).toContain('dark');
  });
});

describe('the data', () => {
  test('is refreshed every thirty seconds, with a countdown, and by hand [S4.5-panel-auto-refresh, S4.5-panel-refresh]', async () => {
    const { page, enter } = await open();
    await page.clock.install();
    await page.reload();
    await enter();
    // From here on only the test moves the clock.
    await page.clock.pauseAt(await page.evaluate<number>('Date.now() + 1000'));
    const calls = watchKeys(page);
    const countdown = page.getByTestId('countdown');
    const secondsLeft = async () => Number(/^(\d+) s$/.exec(await countdown.innerText())?.[1]);
    const before = await secondsLeft();
    expect(before).toBeLessThanOrEqual(30);
    await page.clock.runFor(3_000);
    const after = await secondsLeft();
    expect(Math.abs(before - 3 - after)).toBeLessThanOrEqual(1);
    await page.clock.runFor((after - 2) * 1000);
    expect(calls).toHaveLength(0);
    await page.clock.runFor(3_000);
    await until('the refresh', () => calls.length === 1);
    await until('a new countdown', async () => (await secondsLeft()) >= 29, { timeoutMs: 20_000 });
    await page.clock.runFor(27_000);
    expect(calls).toHaveLength(1);
    await page.getByRole('button', { name: 'Refresh now' }).click();
    await until('the refresh by hand', () => calls.length === 2);
    await until('a new countdown', async () => (await secondsLeft()) >= 29, { timeoutMs: 20_000 });
    await page.getByRole('button', { name: 'Pause automatic updates' }).click();
    await page.clock.runFor(120_000);
    expect(calls).toHaveLength(2);
    expect(await countdown.innerText()).toBe('off');
  });

  test('moves nothing when it is refreshed', async () => {
    await panels.panelHub.makeTraffic();
    const { page, enter } = await open();
    // A server that crashes now and then is news, for which the status line makes room.
    await page.route('**/admin/runtime', async (route) => {
      const response = await route.fetch();
      const json = await response.json();
      json.mcpConnections = json.mcpConnections.filter(({ healthy }: { healthy: boolean }) => healthy);
      await route.fulfill({ response, json });
    });
    await enter();
    const places = () => page.evaluate<string>(PLACES);
    const before = await places();
    await panels.panelHub.makeTraffic();
    const total = await page.getByTestId('requests').innerText();
    await page.getByRole('button', { name: 'Refresh now' }).click();
    await until('fresh numbers', async () => (await page.getByTestId('requests').innerText()) !== total);
    expect(await places()).toBe(before);
  });

  test('is reset only after a confirmation [S4.5-panel-reset]', async () => {
    await panels.panelHub.makeTraffic();
    const { page } = await signedIn();
    const dialog = page.getByRole('dialog', { name: 'Reset statistics?' });
    await page.getByRole('button', { name: 'Reset statistics' }).click();
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect((await panels.panelHub.admin('/admin/runtime/usage')).requests.total).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Reset statistics' }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect((await panels.panelHub.admin('/admin/runtime/usage')).requests.total).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Reset statistics' }).click();
    await dialog.getByRole('button', { name: 'Reset statistics' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await until('zero on the page', async () => (await page.getByTestId('requests').innerText()) === '0');
    expect((await panels.panelHub.admin('/admin/runtime/usage')).requests.total).toBe(0);
    await page.getByText('No model yet').waitFor();
  });
});

describe('a hub in trouble', () => {
  test('without AI-Link is shown so, with the rest; and as well again afterwards', async () => {
    const own = await startHub();
    const { page, signIn, tab } = await open({ url: own.url });
    await signIn();
    await page.getByText('All is well').waitFor();
    const down = {
      status: 'down',
      pid: null,
      restarts: 3,
      since: new Date().toISOString(),
      nextRetryAt: null,
    };
    await page.route('**/admin/runtime', async (route) => {
      const response = await route.fetch();
      const json = { ...(await response.json()), runtimeUsage: null, mcpConnections: [], companion: down };
      await route.fulfill({ response, json });
    });
    await page.getByRole('button', { name: 'Refresh now' }).click();
    await page.getByText(/AI-Link is down since/).waitFor();
    await page.getByText('No usage while AI-Link is down').waitFor();
    for (const [id, words] of [
      ['ai', 'No usage while AI-Link is down'],
      ['mcp', 'No tool servers while AI-Link is down'],
      ['system', 'No usage while AI-Link is down'],
    ] as const) {
      await (await tab(id)).getByText(words).waitFor();
    }
    await page.unroute('**/admin/runtime');
    await page.getByRole('button', { name: 'Refresh now' }).click();
    await page.getByText('All is well').waitFor();
  });

  test('that has died keeps its last data on the page and says so; it is asked again sooner', async () => {
    const own = await startHub();
    const { page, enter } = await open({ url: own.url });
    await enter();
    await own.stop('SIGKILL');
    await page.getByRole('button', { name: 'Refresh now' }).click();
    await page.getByText('The hub does not answer').waitFor();
    expect(await page.getByTestId('requests').innerText()).toBe('0');
    expect(await page.getByTestId('countdown').innerText()).toMatch(/^([0-5] s|now)$/);
    expect(await kept(page)).toContain(ADMIN_KEY);
  });

  test('that does not answer a signing-in is not taken for a wrong key', async () => {
    const { page, signIn } = await open();
    await page.route('**/admin/runtime', (route) => route.abort());
    await signIn();
    await page.getByText(/The hub does not answer/).waitFor();
  });
});
