import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../helpers/browser.ts';
import { send } from '../helpers/http.ts';
import { ADMIN_KEY, defaultConfig } from '../helpers/hub-process.ts';
import { openPanel, PATIENCE_MS } from '../helpers/panel-page.ts';
import { type HubProcess, startHub } from '../helpers/start-hub.ts';

let hub: HubProcess;
let browser: Browser;

beforeAll(async () => {
  [hub, browser] = await Promise.all([startHub(), startBrowser()]);
}, 120_000);
afterAll(() => browser?.close());

describe('the page', () => {
  test('names its scripts and styles by hash in its CSP, and allows nothing else [C3-panel-csp, C3-security-headers]', async () => {
    const { headers, text } = await send(`${hub.url}/admin/panel`);
    const policy = String(headers['content-security-policy']);
    const directives = new Map(
      policy.split('; ').map((line) => [line.split(' ')[0], line.split(' ').slice(1)]),
    );
    for (const [name, directive] of [
      ['script', 'script-src'],
      ['style', 'style-src'],
    ] as const) {
      const elements = [...text.matchAll(new RegExp(`<${name}[^>]*>([^]*?)</${name}>`, 'g'))];
      expect(elements).toHaveLength(1);
      const hash = createHash('sha256').update(String(elements[0]?.[1])).digest('base64');
      expect(directives.get(directive)).toEqual([`'sha256-${hash}'`]);
    }
    expect(policy).not.toMatch(/unsafe|\*/);
    expect(directives.get('default-src')).toEqual(["'none'"]);
    expect(directives.get('connect-src')).toEqual(["'self'"]);
    expect(directives.get('frame-ancestors')).toEqual(["'none'"]);
    expect(text).not.toMatch(/\son\w+=["']/);
    expect(text).not.toMatch(/(?:src|href)=["']?https?:/);
  });

  test('is small, comes compressed, and not at all where the browser has it', async () => {
    const url = `${hub.url}/admin/panel`;
    const zipped = await send(url, { headers: { 'accept-encoding': 'gzip' } });
    expect(zipped.headers['content-encoding']).toBe('gzip');
    expect(zipped.body.length).toBeLessThan(150_000);
    const plain = await send(url);
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true);
    const again = await send(url, { headers: { 'if-none-match': String(zipped.headers.etag) } });
    expect([again.status, again.body.length]).toEqual([304, 0]);
  });

  test('shows data soon', async () => {
    const { page, context, enter } = await openPanel(browser, hub.url);
    await enter();
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      await page.reload();
      await page.getByTestId('requests').waitFor();
      times.push(await page.evaluate<number>('performance.now()'));
    }
    await context.close();
    // 300 ms on a quiet machine; this one may be shared with other tests.
    expect(Math.min(...times)).toBeLessThan(2000);
  });
});

describe('names and texts of others', () => {
  const hostile = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';

  test('never become markup', async () => {
    const provider = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'application/json' });
      const message = { role: 'assistant', content: hostile };
      response.end(
        JSON.stringify({ id: 'x', model: hostile, choices: [{ index: 0, message, finish_reason: hostile }] }),
      );
    });
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
    const own = await startHub({
      config: {
        ...defaultConfig,
        targets: [{ id: 'bad', provider: 'openai-compatible', apiKey: 'a-provider-key-0123456789', baseUrl }],
        tools: [{ name: 'evil', description: hostile, request: { url: baseUrl } }],
      },
    });
    const { page, context, enter, tab, errors } = await openPanel(browser, own.url);
    await enter();
    const ai = await tab('ai');
    await ai.getByLabel('Stream').uncheck();
    await ai.getByRole('button', { name: 'Send' }).click();
    await ai.getByTestId('chat-answer').getByText('window.pwned').waitFor();
    await ai.locator('tbody code', { hasText: 'window.pwned' }).first().waitFor();
    await tab('dashboard');
    await page.getByText('onerror').first().waitFor();
    const mcp = await tab('mcp');
    await mcp.getByRole('button', { name: 'List tools' }).click();
    await mcp.getByText('window.pwned').first().waitFor();
    for (const id of ['config', 'system'] as const) {
      const shown = await tab(id);
      await shown.locator('.json').first().waitFor();
      // Each opened one brings others.
      const closed = shown.locator('.json details:not([open]) > summary').first();
      while ((await closed.count()) > 0) await closed.click();
    }
    expect(await page.evaluate('window.pwned')).toBeUndefined();
    expect(await page.locator('img, #app script').count()).toBe(0);
    expect(errors).toEqual([]);
    await context.close();
    provider.closeAllConnections();
    provider.close();
  });
});

describe('the page on a static host', () => {
  test('works with the hub that `?hub=` names, once the hub lists its origin [C2-cors]', async () => {
    const page = await send(`${hub.url}/admin/panel`);
    const site = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
      response.end(page.body);
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    const open = await startHub({ config: { ...defaultConfig, hub: { cors: { origins: [origin] } } } });
    try {
      const stranger = await openPanel(browser, `${origin}/admin/panel?hub=${hub.url}`);
      await stranger.signIn();
      await stranger.page.getByText(/The hub does not answer/).waitFor();
      await stranger.context.close();
      const listed = await openPanel(browser, `${origin}/admin/panel?hub=${open.url}`);
      await listed.page.getByText(open.url).waitFor();
      await listed.enter();
      const ai = await listed.tab('ai');
      await ai.getByRole('button', { name: 'Send' }).click();
      await ai.getByText('Say hello in one sentence.').last().waitFor();
      await listed.context.close();
    } finally {
      site.closeAllConnections();
      site.close();
    }
  });

  test('never sends a key to another hub than the one it was typed for', async () => {
    const { page, context, enter } = await openPanel(browser, hub.url);
    await page.getByLabel('Stay signed in on this device').check();
    await enter();
    const sent: string[] = [];
    const thief = createServer((request, response) => {
      sent.push(String(request.headers['x-admin-key']));
      response.end();
    });
    await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve));
    await page.goto(`${hub.url}/admin/panel?hub=http://127.0.0.1:${(thief.address() as AddressInfo).port}`);
    await page.getByLabel('Admin key').waitFor({ timeout: PATIENCE_MS });
    // Even typed in, the page's CSP lets it go nowhere else.
    await page.getByLabel('Admin key').fill(ADMIN_KEY);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText(/The hub does not answer/).waitFor();
    expect(sent).toEqual([]);
    await context.close();
    thief.close();
  });
});
